"""Stopping politely."""


class Interrupted(Exception):  # noqa: N818
    """A run was asked to stop; what it had done is kept."""
