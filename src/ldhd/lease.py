"""One owner at a time for a folder, among all processes and machines that share its file system.

The owner holds an advisory lock (`flock`) on the file `lease` in the folder. The operating system releases the lock
when the owner ends, however it ends, so no clock, no process number and no sign of life is ever compared. Network file
systems such as NFS pass the lock on to other machines, and release it when the machine of the owner is gone.

A lock can be lost while its owner sleeps: somebody removes the file, or the server forgets the machine. And a copy of
the owner, forked or restored from a snapshot, believes that it has the lock. So the owner checks its lease again just
before each file gets its name. The lease must hold the word that the owner wrote last, and the owner then writes a new
one: of an owner and its copy, the second to check finds a word that it does not know, and stops.
"""

import contextlib
import errno
import fcntl
import os
import secrets
import socket
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from ldhd.process import Interrupted, one_line

POLL_SECONDS = 0.2
"""Polling interval while waiting for the lease."""
TELL_SECONDS = 30.0
"""Time of waiting after which it is said for whom."""
PATIENCE_SECONDS = 24 * 3600.0
"""Time without a change in the folder after which waiting ends with an error."""
LONGEST_OWNER = 200
SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How the file is opened: never through a link, and without waiting for the other end of a pipe."""


class HeldError(Exception):
    """Another process owns the folder."""


class LostError(OSError):
    """This process does not own the folder any more."""


@contextlib.contextmanager
def holding(
    folder: Path,
    *,
    wait: bool = True,
    stop: Callable[[], bool] = lambda: False,
    on_wait: Callable[[], None] = lambda: None,
) -> "Iterator[Lease]":
    """Own the folder within this context. While another process does, wait, or raise HeldError without `wait`."""
    folder.mkdir(parents=True, exist_ok=True)
    lease, waiting = Lease(folder), Waiting(folder)
    while not lease.take():
        if not wait:
            raise HeldError(f"{folder} is worked on by {lease.owner}")
        if stop():
            raise Interrupted(f"stopped while waiting for {folder}, which is worked on by {lease.owner}")
        waiting.look()
        on_wait()
        time.sleep(POLL_SECONDS)
    try:
        yield lease
    finally:
        lease.release()


class Lease:
    """The lease of a folder, which this process has or may take."""

    def __init__(self, folder: Path):
        self.path = folder / "lease"
        self._descriptor: int | None = None
        self._content = b""
        self._process = 0

    def take(self) -> bool:
        """Take the lease if nobody has it; return whether that worked."""
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._is_current(descriptor):  # its last owner may have removed the file before we had the lock
                self._process = os.getpid()
                os.ftruncate(descriptor, 0)
                self._write(descriptor)
                self._descriptor = descriptor
        except BlockingIOError:
            pass
        finally:
            if self._descriptor is None:
                os.close(descriptor)
        return self._descriptor is not None

    def check(self) -> None:
        """Raise LostError unless this very process still has the lease that it took."""
        with contextlib.suppress(OSError):  # the lock is another's, or the server has forgotten this machine
            if self._descriptor is not None and self._owns(self._descriptor):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # does nothing to a lock that is held
                self._write(self._descriptor)
                return
        raise LostError(f"{self.path.parent} now belongs to {self.owner}; this process writes nothing more into it")

    def _owns(self, descriptor: int) -> bool:
        """Whether the file at the path holds the word that this process wrote last."""
        if os.getpid() != self._process or not self._is_current(descriptor):
            return False
        return os.pread(descriptor, len(self._content) + 1, 0) == self._content

    def _write(self, descriptor: int) -> None:
        """Write who the owner is, and a new word."""
        self._content = f"process {self._process} on {socket.gethostname()}\n{secrets.token_hex(8)}".encode()
        if os.pwrite(descriptor, self._content, 0) < len(self._content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def is_free(self) -> bool:
        """Return whether the lease could be taken; the file of an owner that was killed is removed."""
        if not os.path.lexists(self.path):
            return True
        taken = self.take()
        self.release()
        return taken

    def release(self) -> None:
        """Give the lease back, if this object has it."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if self._owns(descriptor):
            self.path.unlink(missing_ok=True)
        os.close(descriptor)

    @property
    def owner(self) -> str:
        """Which process has the lease."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | SAFELY)
            with os.fdopen(descriptor, "rb") as file:
                first = file.read(LONGEST_OWNER).decode(errors="replace").split("\n")[0]
            return one_line(first) or "another process"
        except OSError:
            return "another process"

    def _open(self) -> int:
        """Open the file of the lease, a new one if there is none; OSError if something else is in its place."""
        if self.path.parent.is_symlink():  # whoever made the folder chooses where a link leads
            raise OSError(f"{self.path.parent} is a link, and nothing is written through it")
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | SAFELY, 0o644)
        except OSError as error:
            if os.path.lexists(self.path) and not stat.S_ISREG(self.path.lstat().st_mode):
                raise OSError(f"{self.path} is no file of a lease but something else; remove it") from None
            raise error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(f"{self.path} is no file of a lease but something else; remove it")
        return descriptor

    def _is_current(self, descriptor: int) -> bool:
        """Whether the file that is open is still the one at the path."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.lstat())
        except FileNotFoundError:
            return False


class Waiting:
    """The wait for a folder on which another process works: it is told once, and ends when nothing happens there."""

    def __init__(self, folder: Path, tell: float = TELL_SECONDS, patience: float = PATIENCE_SECONDS):
        self.folder, self.tell, self.patience = folder, tell, patience
        self.begun = self.changed = time.monotonic()
        self.told = False
        self.seen: object = None

    def look(self) -> None:
        """Warn once if this takes long; raise ValueError if nothing has changed in the folder for too long."""
        now, found = time.monotonic(), self._state()
        if found != self.seen:
            self.seen, self.changed = found, now
        if now - self.changed > self.patience:
            owner = Lease(self.folder).owner
            idle = f"{owner} has it and has written nothing for {self.patience / 3600:.3g} hours"
            raise ValueError(f"{self.folder} is waited for no longer: {idle}; end that process and repeat the command")
        if now - self.begun > self.tell and not self.told:
            self.told, owner = True, Lease(self.folder).owner
            state = ", which is stopped" if _is_stopped(owner) else ""
            warnings.warn(f"waiting for {self.folder}, on which {owner} works{state}", stacklevel=3)

    def _state(self) -> object:
        """The newest changes in the folder and in its folder of checkpoints; clocks are not compared."""
        found = []
        for folder in (self.folder, self.folder / "checkpoints"):
            with contextlib.suppress(OSError):
                found += [(entry.name, entry.inode()) for entry in os.scandir(folder)]
        return sorted(found)


def _is_stopped(owner: str) -> bool:
    """Whether a process of this machine is stopped, as by Ctrl-Z; False where that cannot be known."""
    words = owner.split()
    if len(words) != 4 or words[3] != socket.gethostname() or not words[1].isdigit():
        return False
    try:
        return Path(f"/proc/{words[1]}/stat").read_text().rpartition(") ")[2].startswith(("T", "t"))
    except OSError:
        return False
