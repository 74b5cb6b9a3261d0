"""Many runs on this machine: worker processes with one thread each."""

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from ldhd.experiments import Progress, Record, RunConfig, run
from ldhd.experiments.runner import check
from ldhd.messages import Interrupted, warn_in_one_line

OnProgress = Callable[[Progress], None]
REPORT_SECONDS = 0.2
"""A worker reports its progress at most this often."""

STOPPING = (signal.SIGINT, signal.SIGTERM)

_stop = threading.Event()
_reports: Any = None


def run_all(
    configs: Sequence[RunConfig],
    out: Path,
    *,
    workers: int | None = None,
    threads: int = 1,
    command: str = "",
    on_progress: OnProgress = lambda progress: None,
) -> list[Record]:
    """The records of all configs, in their order. Interrupted (Ctrl-C) leaves every run resumable.

    The number of threads a run computes with is the same however many runs there are, so results do not depend
    on what else was asked for.
    """
    for config in configs:
        check(config)
    out.mkdir(parents=True, exist_ok=True)
    workers = min(workers or os.cpu_count() or 1, len(configs))
    if workers <= 1:
        with stop_on_signal():
            return [
                run(config, out, threads=threads, command=command, on_progress=on_progress, stop=_stop.is_set)
                for config in configs
            ]
    return _run_in_workers(configs, out, workers, threads, command, on_progress)


@contextlib.contextmanager
def stop_on_signal() -> Iterator[None]:
    """Within this, Ctrl-C and a polite kill end the current step first, then the run."""
    _stop.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, lambda *_: _stop.set()) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _run_in_workers(
    configs: Sequence[RunConfig], out: Path, workers: int, threads: int, command: str, on_progress: OnProgress
) -> list[Record]:
    context = multiprocessing.get_context("spawn")
    reports = context.Queue()
    with ProcessPoolExecutor(workers, context, _start_worker, (reports,)) as pool, stop_on_signal():
        with _signals_held_back():
            futures = [pool.submit(_work, config, out, threads, command) for config in configs]
        pending: set[Future[Record]] = set(futures)
        try:
            while pending:
                finished, pending = wait(pending, timeout=REPORT_SECONDS, return_when=FIRST_COMPLETED)
                _drain(reports, on_progress)
                for future in finished:
                    _result(future)
                if _stop.is_set():
                    raise Interrupted("stopped")
        except BaseException:
            # workers get the terminal's signal themselves; one that only the parent got is passed on
            for process in list((pool._processes or {}).values()):
                with contextlib.suppress(ProcessLookupError, TypeError):
                    os.kill(process.pid, signal.SIGINT)  # type: ignore[arg-type]
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


@contextlib.contextmanager
def _signals_held_back() -> Iterator[None]:
    """Processes started within this keep signals waiting until they are ready for them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(reports: Any) -> None:
    global _reports
    _reports = reports
    warn_in_one_line()
    for number in STOPPING:
        signal.signal(number, lambda *_: _stop.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def _result(future: "Future[Record]") -> Record:
    try:
        return future.result()
    except BrokenProcessPool:
        raise ChildProcessError(
            "a worker process died, perhaps for want of memory; the same command goes on from its checkpoint"
        ) from None


def _work(config: RunConfig, out: Path, threads: int, command: str) -> Record:
    last = 0.0
    if _stop.is_set():
        raise Interrupted("stopped")

    def report(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if progress.stage != "training" or now - last > REPORT_SECONDS:
            last = now
            _reports.put(progress)

    return run(config, out, threads=threads, command=command, on_progress=report, stop=_stop.is_set)


def _drain(reports: Any, on_progress: OnProgress) -> None:
    with contextlib.suppress(queue.Empty):
        while True:
            on_progress(reports.get_nowait())
