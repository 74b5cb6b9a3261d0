"""Runs under torchrun: one after the other, each trained by all processes together."""

from collections.abc import Sequence
from pathlib import Path

from ldhd.experiments import Record, RunConfig, follow, run
from ldhd.experiments.checks import check
from ldhd.experiments.progress import OnProgress
from ldhd.sweep.local import stop_on_signal
from ldhd.sweep.runs import run_all
from ldhd.train import parallel


def run_under_torchrun(
    configs: Sequence[RunConfig], out: Path, *, threads: int, command: str, on_progress: OnProgress
) -> list[Record]:
    """Return the records of all configs in the first process, and an empty list in the others."""
    for config in configs:
        check(config)
        size, processes = config.train.batch_size, parallel.processes_started()
        if size < processes:
            raise ValueError(f"batch_size {size} is less than the {processes} processes that share it")
    with parallel.connected(configs[0].device), stop_on_signal() as stop:
        command = command.replace("ldhd", f"torchrun --nproc-per-node={parallel.size()} -m ldhd", 1)
        records = []
        for config in configs:
            if parallel.rank() == 0:
                records.append(run(config, out, threads=threads, command=command, on_progress=on_progress, stop=stop))
            else:
                follow(config, threads, stop)
    return records


def train_all(
    configs: Sequence[RunConfig],
    out: Path,
    *,
    workers: int | None = None,
    threads: int = 1,
    command: str = "",
    on_progress: OnProgress = lambda progress: None,
) -> list[Record]:
    """Run all configs as `run_all` does, or, under torchrun, each by all processes together.

    Under torchrun only the first process returns records.
    """
    if parallel.processes_started() > 1:
        return run_under_torchrun(configs, out, threads=threads, command=command, on_progress=on_progress)
    return run_all(configs, out, workers=workers, threads=threads, command=command, on_progress=on_progress)
