"""One run to be done by some worker, and how it ended."""

import os
import traceback
from dataclasses import dataclass
from pathlib import Path

from ldhd.experiments import Record, RunConfig
from ldhd.experiments.progress import OnProgress, Stop
from ldhd.experiments.runner import run_unfinished
from ldhd.lease import HeldError
from ldhd.messages import Interrupted


@dataclass(frozen=True)
class Job:
    """A run to be done in the folder `out`."""

    config: RunConfig
    out: Path
    threads: int
    command: str


@dataclass(frozen=True)
class JobResult:
    """How a job ended: with a record or an error; with neither if it was stopped or another process has the run."""

    job: Job
    record: Record | None = None
    error: str | None = None


def perform(job: Job, on_progress: OnProgress, stop: Stop) -> JobResult:
    """Do a job in this process; every exception becomes its result. `LDHD_DEBUG=1` prints its traceback."""
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
        return JobResult(job)
    except Exception as error:
        if os.environ.get("LDHD_DEBUG"):
            traceback.print_exc()
        known = isinstance(error, (ValueError, OSError, FloatingPointError))
        return JobResult(job, error=str(error) if known else f"{type(error).__name__}: {error}")
    return JobResult(job, record)
