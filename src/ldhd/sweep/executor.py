"""Executors do jobs: in this process or in processes of their own; all that have workers share one loop."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from ldhd.experiments import Record
from ldhd.experiments.runner import Job, OnProgress, Progress, Stop, run_unfinished
from ldhd.lease import HeldError
from ldhd.process import Interrupted, describe, warn_in_one_line

STOPPING = (signal.SIGINT, signal.SIGTERM)
POLL_SECONDS = 0.2
"""Polling interval for the workers, the queue of jobs and the request to stop."""


@dataclass(frozen=True)
class JobResult:
    """How a job ended: with a record or an error; with neither if it was stopped or another process has the run."""

    job: Job
    record: Record | None = None
    error: str | None = None


Executor = Callable[[Iterator[Job | None], OnProgress, Stop], Iterator[JobResult]]
"""Takes jobs while it has room and yields how each ended, in any order. A None among the jobs means that there is none
at the moment, but there may be later. Once `stop()` is True it takes no more jobs, stops those at work, and ends."""


class Workers(Protocol):
    """What does the jobs of an executor."""

    def has_room(self) -> bool:
        """Return whether another job can be started."""

    def is_busy(self) -> bool:
        """Return whether there are jobs whose results have not been collected."""

    def start(self, job: Job) -> None:
        """Start a job."""

    def collect(self, on_progress: OnProgress) -> Iterable[JobResult]:
        """Report progress and yield the results of jobs that have ended, after `POLL_SECONDS` at the latest."""

    def ask_to_stop(self) -> None:
        """Ask all jobs to stop at their next step; called once."""

    def close(self) -> None:
        """End the workers, at once if they are still at work."""


def execute(workers: Workers, jobs: Iterator[Job | None], on_progress: OnProgress, stop: Stop) -> Iterator[JobResult]:
    """Do all jobs with these workers, as `Executor` describes."""
    more, stopping = True, False
    try:
        while more or workers.is_busy():
            if stop() and not stopping:
                more, stopping = False, True
                workers.ask_to_stop()
            while more and workers.has_room() and not stop():
                try:
                    job = next(jobs)
                except StopIteration:
                    more = False
                    break
                if job is None:
                    break
                workers.start(job)
            if workers.is_busy():
                yield from workers.collect(on_progress)
            elif more:
                time.sleep(POLL_SECONDS)
    finally:
        workers.close()


def in_turn(jobs: Iterator[Job | None], on_progress: OnProgress, stop: Stop) -> Iterator[JobResult]:
    """Do jobs in this process, one after the other, as `Executor` describes."""
    while not stop():
        try:
            job = next(jobs)
        except StopIteration:
            return
        if job is None:
            time.sleep(POLL_SECONDS)
        else:
            yield perform(job, on_progress, stop)


def in_processes(workers: int) -> Executor:
    """Return an executor of at most `workers` jobs at once, each in a process that frees its memory and dies alone."""
    return lambda jobs, on_progress, stop: execute(_Processes(workers), jobs, on_progress, stop)


def perform(job: Job, on_progress: OnProgress, stop: Stop) -> JobResult:
    """Do a job in this process; every exception becomes its result. `LDHD_DEBUG=1` prints its traceback."""
    try:
        return JobResult(job, run_unfinished(job, on_progress, stop, wait=False))
    except (HeldError, Interrupted):
        return JobResult(job)
    except (Exception, SystemExit) as error:  # a user's task may raise anything
        if os.environ.get("LDHD_DEBUG"):
            traceback.print_exc()
        return JobResult(job, error=describe(error) or f"{type(error).__name__}: {error}")


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
        self.context.set_forkserver_preload(["ldhd.sweep.executor", "torch._dynamo"])  # optimizers import the latter
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

    def collect(self, on_progress: OnProgress) -> Iterator[JobResult]:
        ready: list[Any] = wait(list(self.running), timeout=POLL_SECONDS)
        for connection in ready:
            try:
                message: Progress | JobResult | None = connection.recv()
            except (EOFError, OSError):
                message = None  # the process has died
            if isinstance(message, Progress):
                on_progress(message)
                continue
            process, job = self.running.pop(connection)
            process.join()
            connection.close()
            code = process.exitcode or 0
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            death = f"its process ended {how}; if that was for want of memory, use fewer --workers"
            yield message or JobResult(job, error=death)

    def ask_to_stop(self) -> None:
        """Pass the signal on: a terminal sends it to all processes, but `kill` only to the parent."""
        for process, _ in self.running.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid or 0, signal.SIGINT)

    def close(self) -> None:
        for process, _ in self.running.values():
            process.kill()


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

    def send(message: Progress | JobResult) -> None:
        with contextlib.suppress(OSError):  # the parent may be gone
            connection.send(message)

    def report(progress: Progress) -> None:
        nonlocal last
        if progress.stage != "training" or time.monotonic() - last > POLL_SECONDS:
            last = time.monotonic()
            send(progress)

    send(perform(job, report, stop))
