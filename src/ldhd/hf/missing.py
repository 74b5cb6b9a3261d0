"""The error for an optional package that is not installed."""


class MissingPackageError(ImportError, ValueError):
    """A package of an extra is not installed; the command line reports it in one line."""
