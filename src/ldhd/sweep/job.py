"""One run to be done somewhere, and how it ended: all that who distributes runs must know."""

import os
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ldhd.experiments import Progress, Record, RunConfig
from ldhd.experiments.runner import run_unfinished
from ldhd.lease import HeldError
from ldhd.messages import Interrupted

OnProgress = Callable[[Progress], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class Job:
    """A run to be done in the folder `out`."""

    config: RunConfig
    out: Path
    threads: int
    command: str


@dataclass(frozen=True)
class Outcome:
    """How a job ended: with a record, with an error, or neither if it was stopped or another process has it."""

    job: Job
    record: Record | None = None
    error: str | None = None


Executor = Callable[[Iterator[Job | None], OnProgress, Stop], Iterator[Outcome]]
"""Takes jobs when it has room for them and yields how each ended, in any order. A None among the jobs means that there
is none just now: ask again soon. Once `stop()` is true it takes no more, stops what runs, and ends."""


def perform(job: Job, on_progress: OnProgress, stop: Stop) -> Outcome:
    """Do the job here; whatever happens is an outcome. `LDHD_DEBUG=1` prints the traceback of an error."""
    try:
        record = run_unfinished(
            job.config,
            job.out,
            threads=job.threads,
            command=job.command,
            on_progress=on_progress,
            stop=stop,
            wait=False,
        )
    except (HeldError, Interrupted):
        return Outcome(job)
    except Exception as error:
        if os.environ.get("LDHD_DEBUG"):
            traceback.print_exc()
        known = isinstance(error, (ValueError, OSError, FloatingPointError))
        return Outcome(job, error=str(error) if known else f"{type(error).__name__}: {error}")
    return Outcome(job, record)
