"""Many runs: finished ones are read, the others done, failed ones tried again."""

import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ldhd.experiments import Failure, Record, RunConfig, run
from ldhd.experiments.groups import by_setting
from ldhd.experiments.loading import check
from ldhd.experiments.runner import ELSEWHERE, Job, OnProgress, Progress, follow
from ldhd.experiments.studies import Study
from ldhd.experiments.tracking import check_tracker
from ldhd.files import BadFileError
from ldhd.lease import Lease, Waiting
from ldhd.process import Interrupted, one_line
from ldhd.sweep.executor import Executor, JobResult, in_processes, in_turn, stop_on_signal
from ldhd.train import parallel


@dataclass(frozen=True)
class SweepResult:
    """The records and failures of a sweep, one for each run, in the order in which the runs were asked for."""

    records: list[Record]
    failures: list[Failure]


OnCompleted = Callable[[Record | Failure], None]


def run_sweep(
    configs: Sequence[RunConfig],
    out: Path | str,
    executor: Executor | None = None,
    *,
    retries: int = 2,
    threads: int = 1,
    command: str = "",
    log: str | None = None,
    on_progress: OnProgress = lambda progress: None,
    on_completed: OnCompleted = lambda ended: None,
) -> SweepResult:
    """Do all runs that are not finished in `out`, by default in as many processes as there are cores.

    All configs are checked before the first run starts. A run that another process works on is left to that process
    and read when it is finished, so that sweeps of one folder share the work. A failed run stops no other;
    `on_completed` is called when a run is finished or has failed for the last time. Raises Interrupted on Ctrl-C,
    which leaves every run resumable.
    """
    out = Path(out)
    check_tracker(log)
    asked = {config.hash: config for config in configs}
    queue = _Queue(Study(out), retries, threads, command, log, on_progress, on_completed)
    queue.add(asked.values())
    if queue.waiting:
        out.mkdir(parents=True, exist_ok=True)
        with stop_on_signal() as stop:
            for result in (executor or in_processes(os.cpu_count() or 1))(queue.jobs(), on_progress, stop):
                queue.complete(result)
    if queue.waiting:
        raise Interrupted(f"stopped with {len(queue.records)} of {len(asked)} runs finished")
    return SweepResult(
        [queue.records[name] for name in asked if name in queue.records],
        [queue.failures[name] for name in asked if name in queue.failures],
    )


def run_all(
    configs: Sequence[RunConfig],
    out: Path,
    *,
    workers: int | None = None,
    threads: int = 1,
    command: str = "",
    log: str | None = None,
    on_progress: OnProgress = lambda progress: None,
) -> list[Record]:
    """Return the records of all configs, in their order; ValueError with the reason if a run fails.

    The threads of a run do not depend on how many runs there are, so its results do not either.
    """
    workers = min(workers or os.cpu_count() or 1, len(configs))
    executor = in_turn if workers <= 1 else in_processes(workers)
    result = run_sweep(
        configs, out, executor, retries=0, threads=threads, command=command, log=log, on_progress=on_progress
    )
    if result.failures:
        first = result.failures[0]
        raise ValueError(first.message if len(configs) == 1 else f"{first.label} ({first.hash}): {first.message}")
    return result.records


def run_together(
    configs: Sequence[RunConfig], out: Path, threads: int, command: str, log: str | None, on_progress: OnProgress
) -> list[Record]:
    """Do each run by all processes of torchrun together; the first returns the records, the others an empty list."""
    processes = parallel.processes_started()
    check_tracker(log)
    for config in configs:
        check(config)
        size = config.train.batch_size
        if size < processes:
            raise ValueError(f"batch_size {size} is less than the {processes} processes that share it")
    command = command.replace("ldhd", f"torchrun --nproc-per-node={processes} -m ldhd", 1)
    records = []
    with parallel.connected(configs[0].device), stop_on_signal() as stop:
        for config in configs:
            if parallel.rank() == 0:
                record = run(config, out, threads=threads, command=command, log=log, on_progress=on_progress, stop=stop)
                records.append(record)
            else:
                follow(config, threads, stop)
    return records


@dataclass
class _Queue:
    """The runs of a sweep: those that wait, those at work, and the results of the others."""

    study: Study
    retries: int
    threads: int
    command: str
    log: str | None
    on_progress: OnProgress
    on_completed: OnCompleted
    waiting: deque[RunConfig] = field(default_factory=deque)
    at_work: int = 0
    attempts: Counter[str] = field(default_factory=Counter)
    records: dict[str, Record] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    waits: dict[str, Waiting] = field(default_factory=dict)
    """The runs that another process has."""

    def add(self, configs: Iterable[RunConfig]) -> None:
        """Add runs; those that are finished are read, the others checked, one seed of each setting."""
        for config in configs:
            record = self.study.finished(config)
            if record is None:
                self.waiting.append(config)
            else:
                self._finish(record)
        for seeds in by_setting(self.waiting):
            try:
                check(seeds[0])
            except ValueError as error:
                raise ValueError(f"{seeds[0].label}: {error}") from None

    def jobs(self) -> Iterator[Job | None]:
        """Yield the next job that no other process has, None while there is none, until all runs are completed."""
        while self.waiting or self.at_work:
            started = (self._start(self.waiting.popleft()) for _ in range(len(self.waiting)))
            yield next((job for job in started if job is not None), None)

    def complete(self, result: JobResult) -> None:
        """Keep the result of a job; a run without a record or an error waits again."""
        self.at_work -= 1
        if result.record is not None:
            self._finish(result.record)
        elif result.error is not None:
            self._fail(result.job.config, result.error)
        else:
            self.waiting.append(result.job.config)

    def _start(self, config: RunConfig) -> Job | None:
        """Return the job of a run; None if it is finished, or has failed, or waits for another process that has it."""
        path = self.study.folder(config).path
        try:
            free = Lease(path).is_free()
            if not free:
                self.waits.setdefault(config.hash, Waiting(path)).look()
        except (OSError, ValueError) as error:
            self._fail(config, str(error))
            return None
        record = self.study.finished(config) if free else None  # another process may have finished it since
        if record is not None:
            self._finish(record)
        elif free:
            self.at_work += 1
            return Job(config, self.study.path, self.threads, self.command, self.log)
        else:
            self.waiting.append(config)
            self.on_progress(Progress(config.hash, config.label, ELSEWHERE))
        return None

    def _finish(self, record: Record) -> None:
        self.records[record.hash] = record
        self.on_completed(record)

    def _fail(self, config: RunConfig, message: str) -> None:
        self.attempts[config.hash] += 1
        failure = Failure(config.hash, config.label, one_line(message), self.attempts[config.hash])
        with contextlib.suppress(OSError, BadFileError):  # a full disk may be the reason
            self.study.folder(config).write_failure(failure)
        if failure.attempts <= self.retries:
            self.waiting.append(config)
        else:
            self.failures[config.hash] = failure
            self.on_completed(failure)
