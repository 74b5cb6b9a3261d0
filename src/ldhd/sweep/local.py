"""Runs on this machine: in this process one after the other, or each in a process of its own."""

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

from ldhd.experiments import Progress
from ldhd.messages import warn_in_one_line
from ldhd.sweep.job import Executor, Job, OnProgress, Outcome, Stop, perform

REPORT_SECONDS = 0.2
"""A process reports its progress at most this often, and who has nothing to do looks this often for something."""

STOPPING = (signal.SIGINT, signal.SIGTERM)


def in_turn(jobs: Iterator[Job | None], on_progress: OnProgress, stop: Stop) -> Iterator[Outcome]:
    """In this process, one after the other."""
    while not stop():
        job = next(jobs, _NO_MORE)
        if job is None:
            time.sleep(REPORT_SECONDS)
        elif isinstance(job, Job):
            yield perform(job, on_progress, stop)
        else:
            return


def in_processes(workers: int) -> Executor:
    """At most `workers` at once, each in a new process: memory is given back, and one that dies takes none along.

    The processes are forked from one that has imported torch and done nothing else, so that a start takes
    milliseconds.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ldhd.sweep.local", "torch._dynamo"])  # optimizers import the latter

    def execute(jobs: Iterator[Job | None], on_progress: OnProgress, stop: Stop) -> Iterator[Outcome]:
        running: dict[Connection, tuple[BaseProcess, Job]] = {}
        more, told = True, False
        try:
            while more or running:
                while more and len(running) < workers:
                    if stop():
                        more = False
                    elif (job := next(jobs, _NO_MORE)) is None:
                        break
                    elif isinstance(job, Job):
                        running |= [_start(context, job)]
                    else:
                        more = False
                if stop() and not told:
                    _tell_to_stop(running)
                    more, told = False, True
                for connection in _ready(running):
                    message = _receive(connection)
                    if isinstance(message, Progress):
                        on_progress(message)
                        continue
                    process, job = running.pop(connection)
                    yield message or Outcome(job, error=_death(process))
                    process.join()
                    connection.close()
        finally:
            for process, _ in running.values():
                process.kill()

    return execute


@contextlib.contextmanager
def stop_on_signal() -> Iterator[Stop]:
    """Gives a function that is true once Ctrl-C or a polite kill has come; a second one interrupts at once."""
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


_NO_MORE = object()


def _start(context: Any, job: Job) -> tuple[Connection, tuple[BaseProcess, Job]]:
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, theirs))
    resource_tracker.ensure_running()  # it lets signals through when it starts, so not while they are held back
    with _signals_held_back():
        process.start()
    theirs.close()
    return ours, (process, job)


@contextlib.contextmanager
def _signals_held_back() -> Iterator[None]:
    """Processes started within this keep signals waiting until they are ready for them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _tell_to_stop(running: dict[Connection, tuple[BaseProcess, Job]]) -> None:
    """Processes get the terminal's signal themselves; one that only the parent got is passed on."""
    for process, _ in running.values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid or 0, signal.SIGINT)


def _ready(running: dict[Connection, tuple[BaseProcess, Job]]) -> list[Any]:
    if not running:
        time.sleep(REPORT_SECONDS)
    return wait(list(running), timeout=REPORT_SECONDS)


def _receive(connection: Connection) -> Progress | Outcome | None:
    """What a process says, None if it is gone."""
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
    """The whole life of a process."""
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
        if progress.stage != "training" or now - last > REPORT_SECONDS:
            last = now
            _send(connection, progress)

    _send(connection, perform(job, report, stop))


def _send(connection: Connection, message: Progress | Outcome) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        connection.send(message)
