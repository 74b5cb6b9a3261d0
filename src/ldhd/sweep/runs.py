"""Many runs: the finished are read, the rest done, the failed tried again; none stops another."""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ldhd.experiments import Failure, Progress, Record, RunConfig
from ldhd.experiments.checks import check
from ldhd.experiments.groups import by_setting
from ldhd.experiments.studies import Study
from ldhd.lease import Lease
from ldhd.messages import Interrupted
from ldhd.sweep.job import Executor, Job, OnProgress, Outcome
from ldhd.sweep.local import in_processes, in_turn, stop_on_signal

RETRIES = 2
"""How often a failed run is tried again."""


@dataclass(frozen=True)
class Swept:
    """What became of the runs of a sweep: each has a record or a failure, in the order they were asked for."""

    records: list[Record]
    failures: list[Failure]


OnSettled = Callable[[Record | Failure], None]
"""Called when a run is finished or has failed for good."""


def run_sweep(
    configs: Sequence[RunConfig],
    out: Path,
    executor: Executor | None = None,
    *,
    retries: int = RETRIES,
    threads: int = 1,
    command: str = "",
    on_progress: OnProgress = lambda progress: None,
    on_settled: OnSettled = lambda how: None,
) -> Swept:
    """Do all runs that are not finished, in a process for each core unless told otherwise.

    All are checked before the first one starts. Runs that another process works on are left to it and their records
    read when they are there, so that sweeps of the same folder share what is left. Interrupted (Ctrl-C) leaves every
    run resumable.
    """
    asked = {config.hash: config for config in configs}
    todo = _Todo(Study(out), retries, threads, command, on_progress, on_settled)
    for config in asked.values():
        record = todo.study.finished(config)
        if record is None:
            todo.queue.append(config)
        else:
            todo.done(record)
    for seeds in by_setting(todo.queue):
        _check(seeds[0])
    if todo.queue:
        out.mkdir(parents=True, exist_ok=True)
        with stop_on_signal() as stop:
            for outcome in (executor or in_processes(os.cpu_count() or 1))(todo.jobs(), on_progress, stop):
                todo.settle(outcome)
    if todo.queue:
        raise Interrupted(f"stopped with {len(todo.records)} of {len(asked)} runs finished")
    return Swept(
        [todo.records[name] for name in asked if name in todo.records],
        [todo.failures[name] for name in asked if name in todo.failures],
    )


def run_all(
    configs: Sequence[RunConfig],
    out: Path,
    *,
    workers: int | None = None,
    threads: int = 1,
    command: str = "",
    on_progress: OnProgress = lambda progress: None,
) -> list[Record]:
    """The records of all configs, in their order; ValueError with the reason if one fails.

    The number of threads a run computes with is the same however many runs there are, so results do not depend
    on what else was asked for.
    """
    workers = min(workers or os.cpu_count() or 1, len(configs))
    executor = in_turn if workers <= 1 else in_processes(workers)
    swept = run_sweep(configs, out, executor, retries=0, threads=threads, command=command, on_progress=on_progress)
    if swept.failures:
        first = swept.failures[0]
        raise ValueError(first.message if len(configs) == 1 else f"{first.label} ({first.hash}): {first.message}")
    return swept.records


@dataclass
class _Todo:
    """What is left of a sweep, and what is known of the rest."""

    study: Study
    retries: int
    threads: int
    command: str
    on_progress: OnProgress
    on_settled: OnSettled
    queue: deque[RunConfig] = field(default_factory=deque)
    records: dict[str, Record] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    """Runs that another process was seen to work on."""
    attempts: dict[str, int] = field(default_factory=dict)

    def jobs(self) -> Iterator[Job | None]:
        """The next job that nobody works on, None while there is none, until all runs are settled."""
        while self.queue or self.running:
            yield self._next()

    def settle(self, outcome: Outcome) -> None:
        """Take note of how a job ended; one that ended without an answer goes back to the end of the queue."""
        config = outcome.job.config
        self.running.discard(config.hash)
        if outcome.record is not None:
            self.done(outcome.record)
        elif outcome.error is not None:
            self._failed(config, outcome.error)
        else:
            self.queue.append(config)

    def done(self, record: Record) -> None:
        self.records[record.hash] = record
        self.on_settled(record)

    def _next(self) -> Job | None:
        for _ in range(len(self.queue)):
            config = self.queue.popleft()
            if not self._is_free(config):
                continue
            record = self.study.finished(config) if config.hash in self.held else None
            if record is not None:
                self.done(record)
            else:
                self.running.add(config.hash)
                return Job(config, self.study.path, self.threads, self.command)
        return None

    def _is_free(self, config: RunConfig) -> bool:
        """Whether nobody works on a run; if somebody does, it goes to the end of the queue."""
        try:
            if Lease(self.study.folder(config).path).is_free():
                return True
        except OSError as error:
            self._failed(config, str(error))
        else:
            self.held.add(config.hash)
            self.on_progress(Progress.of(config, "elsewhere"))
            self.queue.append(config)
        return False

    def _failed(self, config: RunConfig, message: str) -> None:
        attempts = self.attempts[config.hash] = self.attempts.get(config.hash, 0) + 1
        failure = Failure(config.hash, config.label, " ".join(message.split()), attempts)
        with contextlib.suppress(OSError):  # the disk may be full, and that the reason
            self.study.folder(config).write_failure(failure)
        if attempts <= self.retries:
            self.queue.append(config)
        else:
            self.failures[config.hash] = failure
            self.on_settled(failure)


def _check(config: RunConfig) -> None:
    try:
        check(config)
    except ValueError as error:
        raise ValueError(f"{config.label}: {error}") from None
