"""The loop that all executors share; they differ in the workers that do the jobs."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from ldhd.experiments.progress import OnProgress, Stop
from ldhd.sweep.job import Job, JobResult, perform

POLL_SECONDS = 0.2
"""Polling interval for the workers, the queue of jobs and the request to stop."""

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
    """Do jobs in this process, one after the other."""
    return execute(_ThisProcess(), jobs, on_progress, stop)


class _ThisProcess:
    """A single worker: this process, which does its job while its result is collected."""

    def __init__(self) -> None:
        self.job: Job | None = None

    def has_room(self) -> bool:
        return self.job is None

    def is_busy(self) -> bool:
        return self.job is not None

    def start(self, job: Job) -> None:
        self.job = job

    def collect(self, on_progress: OnProgress, stop: Stop) -> Iterator[JobResult]:
        job, self.job = self.job, None
        if job is not None:
            yield perform(job, on_progress, stop)

    def ask_to_stop(self) -> None:
        """Do nothing: the job asks `stop()` itself."""

    def close(self) -> None:
        """Do nothing: there is nothing to end."""
