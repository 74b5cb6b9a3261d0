"""Messages to the user beside results: warnings in one line, and interruptions."""

import sys
import warnings


class Interrupted(Exception):  # noqa: N818
    """A run was asked to stop; what it had done is kept."""


def warn_in_one_line() -> None:
    """Print a warning as one line on standard error, without Python's place and source line."""
    warnings.showwarning = lambda message, *_: print(f"ldhd: warning: {message}", file=sys.stderr)
