"""One owner for a folder, however many processes and machines look at it.

The owner makes the file `lease`, whole and at once, with who it is, and changes the file's time of modification every
few seconds as long as it lives. Nobody's clock is believed: that time is a counter, and whoever waits looks for changes
of it by its own monotonic clock. An owner on the same machine is known to be gone as soon as its process is.

The place of an owner that is gone is taken by renaming a new lease over the old one, and only by who holds a lease on
doing just that, so that two who find it gone together cannot both take it. A process that was asleep for long may find
that its place was taken: it asks with `check` before it writes.
"""

import contextlib
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ldhd.messages import Interrupted

BEAT_SECONDS = 5.0
"""How often an owner shows that it lives."""
GONE_SECONDS = 60.0
"""An owner elsewhere that has shown nothing for this long, as seen by who waits, is gone."""
POLL_SECONDS = 0.2
"""How often who waits looks again."""


class HeldError(Exception):
    """Another process owns the folder."""


class LostError(Interrupted):
    """The lease was taken by another process, because this one had seemed gone."""


@contextlib.contextmanager
def holding(
    folder: Path,
    *,
    wait: bool = True,
    stop: Callable[[], bool] = lambda: False,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator["Lease"]:
    """Own the folder within this. If another does: wait for it, or HeldError."""
    folder.mkdir(parents=True, exist_ok=True)
    lease = Lease(folder / "lease")
    while not lease.take():
        if not wait:
            raise HeldError(f"{folder} is worked on by {lease.owner}")
        if stop():
            raise Interrupted(f"stopped while waiting for {folder}, which is worked on by {lease.owner}")
        on_wait()
        time.sleep(POLL_SECONDS)
    for left in folder.glob("lease-*"):  # of somebody killed while taking the place of an owner before us
        if left.name != f"lease-{lease.token}":
            left.unlink(missing_ok=True)
    ended = threading.Event()
    beating = threading.Thread(target=lease.beat_until, args=(ended,), daemon=True)
    beating.start()
    try:
        yield lease
    finally:
        ended.set()
        beating.join()
        lease.release()


class Lease:
    """A lease that somebody has, or may take. Keep the object while waiting: it remembers what it saw and when."""

    def __init__(self, path: Path):
        self.path = path
        self.token = secrets.token_hex(8)
        self.beats = 0
        self._seen: tuple[bytes, int] | None = None
        self._since = 0.0
        self._guards: dict[str, Lease] = {}

    def take(self) -> bool:
        """Take it if it is free or its owner is gone; whether that worked."""
        if self._create():
            return True
        seen = self._look()
        if seen is None or not self._is_gone(seen):
            return False
        name = _fields(seen[0]).get("token", "unreadable")
        guard = self._guards.setdefault(name, Lease(self.path.with_name(f"{self.path.name}-{name}")))
        if not guard.take():
            return False
        try:
            if _content(self.path) != seen[0]:
                return False
            self._write_beside().replace(self.path)
            return True
        finally:
            guard.release()

    def free(self) -> bool:
        """Whether it could be taken; the lease of an owner that is gone is removed."""
        if self._look() is None:
            return True
        if self.take():
            self.release()
            return True
        return False

    def check(self) -> None:
        """LostError unless the lease is still ours."""
        if not self.ours:
            raise LostError(f"{self.path.parent} was taken over by another process while this one was asleep")

    @property
    def ours(self) -> bool:
        return _fields(_content(self.path)).get("token") == self.token

    @property
    def owner(self) -> str:
        """Who had it when we last looked."""
        fields = _fields(self._seen[0] if self._seen else None)
        return f"process {fields['pid']} on {fields['host']}" if fields else "another process"

    def release(self) -> None:
        if self.ours:
            self.path.unlink(missing_ok=True)

    def beat(self) -> None:
        """Show that we live: the time of modification moves on by a second, whatever the clock says."""
        if self.ours:
            self.beats += 1
            os.utime(self.path, ns=(0, self.beats * 10**9))

    def beat_until(self, ended: threading.Event) -> None:
        while not ended.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):  # a file server that is away for a moment
                self.beat()

    def _create(self) -> bool:
        beside = self._write_beside()
        try:
            os.link(beside, self.path)
        except FileExistsError:
            return self.ours  # a file server may have done it and lost its answer
        except OSError:  # a file system without hard links
            return self._create_in_place()
        finally:
            beside.unlink(missing_ok=True)
        return True

    def _create_in_place(self) -> bool:
        try:
            self._write(self.path, "xb")
        except FileExistsError:
            return False
        return True

    def _write_beside(self) -> Path:
        beside = self.path.with_name(f"~{self.path.name}-{self.token}")
        self._write(beside, "wb")
        return beside

    def _write(self, path: Path, mode: str) -> None:
        file = path.open(mode)
        try:
            with file:
                file.write(self._text())
        except OSError:  # a full disk
            path.unlink(missing_ok=True)
            raise

    def _text(self) -> bytes:
        pid = os.getpid()
        fields = {"token": self.token, "host": socket.gethostname(), "pid": pid}
        return json.dumps({**fields, "machine": _machine(), "started": _started(pid)}).encode()

    def _look(self) -> tuple[bytes, int] | None:
        """What the file says and its counter, None if there is none any more; when this was new is remembered."""
        content = _content(self.path)
        try:
            seen = None if content is None else (content, self.path.stat().st_mtime_ns)
        except FileNotFoundError:
            seen = None
        if seen != self._seen:
            self._seen, self._since = seen, time.monotonic()
        return seen

    def _is_gone(self, seen: tuple[bytes, int]) -> bool:
        fields = _fields(seen[0])
        if fields and fields["machine"] is not None and fields["machine"] == _machine():
            started = _started(fields["pid"])
            return started is None or started != fields["started"]
        return time.monotonic() - self._since > GONE_SECONDS


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _fields(content: bytes | None) -> dict[str, Any]:
    """What a lease says; nothing if it is absent or not whole."""
    try:
        fields = json.loads(content or b"")
    except ValueError:
        return {}
    known = isinstance(fields, dict) and fields.keys() == {"token", "host", "pid", "machine", "started"}
    return fields if known else {}


@cache
def _machine() -> str | None:
    """This boot of this machine, and the space its process numbers live in; None where the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _started(pid: int) -> str | None:
    """When a process of this machine began, in ticks since the boot; None if it is gone or a zombie."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else rest[18]
