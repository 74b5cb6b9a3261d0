"""What a process that computes sets once: its threads and how it keeps memory."""

import ctypes
import platform

import torch

GIBIBYTE = 2**30
# names of the C library's mallopt, from malloc.h
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


def prepare(threads: int) -> None:
    """Set the threads, and keep freed memory instead of returning it.

    By default the C library gives the pages of large tensors back to the system and takes them again, zeroed, for the
    next ones: that costs more than many an operation on the tensor.
    """
    torch.set_num_threads(threads)
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, GIBIBYTE)
        library.mallopt(M_TRIM_THRESHOLD, 2 * GIBIBYTE - 1)
