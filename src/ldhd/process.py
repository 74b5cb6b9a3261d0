"""What concerns a whole process: its interruption, its warnings, its threads, and how it keeps memory."""

import ctypes
import platform
import sys
import warnings

GIBIBYTE = 2**30
# names of the C library's mallopt, from malloc.h
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


class Interrupted(Exception):  # noqa: N818
    """A run was asked to stop; what it had done is kept."""


def warn_in_one_line() -> None:
    """Print a warning as one line on standard error, without Python's place and source line."""
    warnings.showwarning = lambda message, *_: print(f"ldhd: warning: {message}", file=sys.stderr)


def prepare(threads: int) -> None:
    """Set the threads, and keep freed memory instead of returning it.

    By default the C library returns the pages of large tensors to the system and gets them back, zeroed, for the next
    ones, which costs more than many operations on a tensor.
    """
    import torch  # here, so that `ldhd --help` answers at once

    torch.set_num_threads(threads)
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, GIBIBYTE)
        library.mallopt(M_TRIM_THRESHOLD, 2 * GIBIBYTE - 1)
