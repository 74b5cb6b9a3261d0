"""Refuse what does not fit before allocating it: 2^N grows faster than anyone's patience with a swapping machine."""

import os
from pathlib import Path

# A control group (container, Slurm job) may allow less than the machine has.
CONTROL_GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_limit() -> int:
    """Half of the memory of this machine or control group, in bytes: room for the caller's own arrays remains."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(CONTROL_GROUP_LIMIT.read_text())) // 2
    except (OSError, ValueError):  # no such file, or the word "max"
        return machine // 2


def check_memory(entries: int, what: str, bytes_each: int = 8) -> None:
    """ValueError if an array of so many entries would take more than `memory_limit()`."""
    needed, limit = entries * bytes_each, memory_limit()
    if needed > limit:
        raise ValueError(
            f"{what} would need {_readable(needed)} of memory, more than the {_readable(limit)} allowed (half of all)"
        )


def _readable(size: int) -> str:
    """3221225472 -> '3.0 GiB'; beyond 2^60 bytes only the power of two matters."""
    if size >= 2**60:
        return f"2^{size.bit_length() - 1} bytes"
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"
