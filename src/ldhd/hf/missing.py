"""What is said when an optional package is not installed."""


class MissingPackageError(ImportError, ValueError):
    """A package of an extra that is absent; the command line says so in one line."""
