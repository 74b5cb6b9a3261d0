"""What concerns a whole process: its interruption, its errors and warnings, its threads, and how it keeps memory."""

import contextlib
import ctypes
import gc
import platform
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

GIBIBYTE = 2**30
# names of the C library's mallopt, from malloc.h
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


class Interrupted(Exception):  # noqa: N818
    """A run was asked to stop; what it had done is kept."""


class LostPeerError(OSError):
    """Another process of torchrun has ended, so that this one cannot go on."""


OUT_OF_MEMORY = (
    "out of memory; use smaller scales, fewer --instances or --workers, a smaller train.batch_size or a smaller model"
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory could not be had, from Python or from torch."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and ("can't allocate memory" in str(error) or "out of memory" in str(error))


def describe(error: BaseException) -> str | None:
    """Return what to tell a user of an error; None if it is a mistake of ldhd, of which a traceback says more."""
    if is_out_of_memory(error):
        return OUT_OF_MEMORY
    place = own_place(error)
    if place is not None:
        known = isinstance(error, ValueError) and str(error)
        what = f"sys.exit({error})" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        return f"{error} ({place})" if known else f"{what} ({place}); LDHD_DEBUG=1 shows the traceback"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {'it is no folder' if isinstance(error, FileExistsError) else error.strerror}"
    return str(error) if isinstance(error, (ValueError, OSError, FloatingPointError)) else None


def own_place(error: BaseException) -> str | None:
    """Return the place in a user's own code, such as `my_task.py, line 12`, where an error came from.

    None if no code was called from ldhd that belongs neither to it nor to an installed package.
    """
    installed = [Path(path).resolve() for path in {*sysconfig.get_paths().values()} if path]
    package = Path(__file__).resolve().parent
    place, within = None, False
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename).resolve()
        if path.is_relative_to(package):
            within = True
        elif within and not frame.filename.startswith("<") and not any(map(path.is_relative_to, installed)):
            place = f"{path.name}, line {frame.lineno}"
    return place


def warn_in_one_line() -> None:
    """Print a warning as one line on standard error, without Python's place and source line."""
    warnings.showwarning = lambda message, *_: print(f"ldhd: warning: {one_line(str(message))}", file=sys.stderr)


def one_line(text: str) -> str:
    """Return a text as one line that a terminal shows as it is, with escapes for signs that cannot be printed."""
    words = " ".join(text.split())
    return words if words.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Do not look for garbage within this context, where very many objects are made that stay."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


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
