"""Settings of a process that computes: its threads, and how it keeps memory."""

import ctypes
import platform

import torch

GIBIBYTE = 2**30
# names of the C library's mallopt, from malloc.h
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


def prepare(threads: int) -> None:
    """Set the threads, and keep freed memory instead of returning it.

    By default the C library returns the pages of large tensors to the system and gets them back, zeroed, for the next
    ones, which costs more than many operations on a tensor.
    """
    torch.set_num_threads(threads)
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, GIBIBYTE)
        library.mallopt(M_TRIM_THRESHOLD, 2 * GIBIBYTE - 1)
