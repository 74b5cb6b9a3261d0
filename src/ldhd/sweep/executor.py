"""Executors do jobs: in this process, or with workers, for which all of them share one loop."""

import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ldhd.experiments import Record
from ldhd.experiments.runner import Job, OnProgress, Stop, run_unfinished
from ldhd.lease import HeldError
from ldhd.messages import Interrupted

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

    def collect(self, on_progress: OnProgress, stop: Stop) -> Iterable[JobResult]:
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
                yield from workers.collect(on_progress, stop)
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


def perform(job: Job, on_progress: OnProgress, stop: Stop) -> JobResult:
    """Do a job in this process; every exception becomes its result. `LDHD_DEBUG=1` prints its traceback."""
    try:
        return JobResult(job, run_unfinished(job, on_progress, stop, wait=False))
    except (HeldError, Interrupted):
        return JobResult(job)
    except Exception as error:
        if os.environ.get("LDHD_DEBUG"):
            traceback.print_exc()
        known = isinstance(error, (ValueError, OSError, FloatingPointError))
        return JobResult(job, error=str(error) if known else f"{type(error).__name__}: {error}")
