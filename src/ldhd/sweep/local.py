"""Workers on this machine, a process for each job."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from ldhd.experiments.runner import Job, OnProgress, Progress, Stop
from ldhd.messages import warn_in_one_line
from ldhd.sweep.executor import POLL_SECONDS, Executor, JobResult, execute, perform

STOPPING = (signal.SIGINT, signal.SIGTERM)


def in_processes(workers: int) -> Executor:
    """Return an executor that does at most `workers` jobs at once, each in a new process.

    A process returns its memory when it ends, and one that dies takes no other job with it.
    """
    return lambda jobs, on_progress, stop: execute(_Processes(workers), jobs, on_progress, stop)


@contextlib.contextmanager
def stop_on_signal() -> Iterator[Stop]:
    """Give a function that is True after SIGINT (Ctrl-C) or SIGTERM; a second signal interrupts at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped.is_set
        return

    def on_signal(*_: Any) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    previous = {number: signal.signal(number, on_signal) for number in STOPPING}
    try:
        yield stopped.is_set
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Processes:
    """Processes forked from one that has imported torch and done nothing else, so that a start takes milliseconds."""

    def __init__(self, limit: int):
        self.limit = limit
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["ldhd.sweep.local", "torch._dynamo"])  # optimizers import the latter
        self.running: dict[Connection, tuple[BaseProcess, Job]] = {}

    def has_room(self) -> bool:
        return len(self.running) < self.limit

    def is_busy(self) -> bool:
        return bool(self.running)

    def start(self, job: Job) -> None:
        receiver, sender = self.context.Pipe(duplex=False)
        process = self.context.Process(target=_work, args=(job, sender))
        resource_tracker.ensure_running()  # its start unblocks signals, so it must come before they are blocked
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)  # the process unblocks them once it can stop
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        sender.close()
        self.running[receiver] = process, job

    def collect(self, on_progress: OnProgress, stop: Stop) -> Iterator[JobResult]:
        ready: list[Any] = wait(list(self.running), timeout=POLL_SECONDS)
        for connection in ready:
            message = _receive(connection)
            if isinstance(message, Progress):
                on_progress(message)
                continue
            process, job = self.running.pop(connection)
            yield message or JobResult(job, error=_death(process))
            process.join()
            connection.close()

    def ask_to_stop(self) -> None:
        """Pass the signal on: a terminal sends it to all processes, but `kill` only to the parent."""
        for process, _ in self.running.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid or 0, signal.SIGINT)

    def close(self) -> None:
        for process, _ in self.running.values():
            process.kill()


def _receive(connection: Connection) -> Progress | JobResult | None:
    """Return the next message of a process, None if the process has ended."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


def _death(process: BaseProcess) -> str:
    process.join()
    code = process.exitcode or 0
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return f"its process ended {how}; if that was for want of memory, use fewer --workers"


def _work(job: Job, connection: Connection) -> None:
    """Do one job; the target of a process."""
    stopped = threading.Event()
    warn_in_one_line()
    for number in STOPPING:
        signal.signal(number, lambda *_: stopped.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    parent = multiprocessing.parent_process()
    last = 0.0

    def stop() -> bool:
        return stopped.is_set() or (parent is not None and not parent.is_alive())

    def report(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if progress.stage != "training" or now - last > POLL_SECONDS:
            last = now
            _send(connection, progress)

    _send(connection, perform(job, report, stop))


def _send(connection: Connection, message: Progress | JobResult) -> None:
    with contextlib.suppress(OSError):  # the parent may be gone
        connection.send(message)
