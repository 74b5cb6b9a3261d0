"""One owner at a time for a folder, among all processes and machines that share its file system.

The owner holds an advisory lock (`flock`) on the file `lease` in the folder. The operating system releases the lock
when the owner ends, however it ends, so no clock, no process number and no sign of life is ever compared. Network file
systems such as NFS pass the lock on to other machines, and release it when the machine of the owner is gone.
"""

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ldhd.process import Interrupted

POLL_SECONDS = 0.2
"""Polling interval while waiting for the lease."""


class HeldError(Exception):
    """Another process owns the folder."""


@contextlib.contextmanager
def holding(
    folder: Path,
    *,
    wait: bool = True,
    stop: Callable[[], bool] = lambda: False,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Own the folder within this context. While another process does, wait, or raise HeldError without `wait`."""
    folder.mkdir(parents=True, exist_ok=True)
    lease = Lease(folder)
    while not lease.take():
        if not wait:
            raise HeldError(f"{folder} is worked on by {lease.owner}")
        if stop():
            raise Interrupted(f"stopped while waiting for {folder}, which is worked on by {lease.owner}")
        on_wait()
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        lease.release()


class Lease:
    """The lease of a folder, which this process has or may take."""

    def __init__(self, folder: Path):
        self.path = folder / "lease"
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lease if nobody has it; return whether that worked."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._is_current(descriptor):  # its last owner may have removed the file before we had the lock
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
                self._descriptor = descriptor
        except BlockingIOError:
            pass
        finally:
            if self._descriptor is None:
                os.close(descriptor)
        return self._descriptor is not None

    def is_free(self) -> bool:
        """Return whether the lease could be taken; the file of an owner that was killed is removed."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return True
        taken = self.take()
        self.release()
        return taken

    def release(self) -> None:
        """Give the lease back, if this object has it."""
        if self._descriptor is None:
            return
        if self._is_current(self._descriptor):
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None

    @property
    def owner(self) -> str:
        """Which process has the lease."""
        try:
            return self.path.read_text() or "another process"
        except OSError:
            return "another process"

    def _is_current(self, descriptor: int) -> bool:
        """Whether the file that is open is still the one at the path."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False
