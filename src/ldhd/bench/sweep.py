"""Sweeps: two workers against one, the overhead of a run, and how fast finished runs are skipped."""

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ldhd.bench.ratio import Case, compare, timed, within
from ldhd.experiments import RunConfig, make_config
from ldhd.experiments.studies import Study
from ldhd.sweep import in_processes, run_sweep
from ldhd.sweep.file import parse_sweep

TINY: dict[str, Any] = {"model.dimension": 16, "model.heads": 2, "train.samples": 40, "test_instances": 1}
OVERHEAD_SECONDS = 1.0
"""The limit on what a run costs in addition to its training."""
SKIPPING_SECONDS = 2.0
"""The limit on what skipping the finished runs costs."""


def sweep_cases(runs: int = 6, steps: int = 400, skipped: int = 1000, repeats: int = 3) -> list[Case]:
    """Compare the runs per hour of two workers with those of one, and two limits with what was measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            _two_workers(folder, runs, steps, repeats),
            _overhead(folder, runs, repeats),
            _skipping(folder, skipped, repeats),
        ]


def _two_workers(folder: Path, runs: int, steps: int, repeats: int) -> Case:
    configs = [_config(seed, steps) for seed in range(runs)]
    outs = (folder / f"workers-{number}" for number in itertools.count())

    def with_workers(workers: int) -> Callable[[], Any]:
        return lambda: run_sweep(configs, next(outs), in_processes(workers))

    shape = f"{runs} runs of {steps} steps"
    return compare("sweep, runs an hour", shape, "one worker", with_workers(2), with_workers(1), repeats)


def _overhead(folder: Path, runs: int, repeats: int) -> Case:
    """Time runs of one step: the start of the process, lease, checkpoint, test and record."""
    configs = [_config(seed, steps=1) for seed in range(runs)]
    executor = in_processes(1)
    run_sweep(configs[:1], folder / "first", executor)  # starts what processes are forked from
    seconds = [
        timed(lambda out=out: run_sweep(configs, out, executor)) / runs  # type: ignore[misc]
        for out in (folder / f"overhead-{turn}" for turn in range(repeats))
    ]
    return within("sweep, a run beside its training", "runs of one step", OVERHEAD_SECONDS, seconds)


def _skipping(folder: Path, skipped: int, repeats: int) -> Case:
    """Time the whole command, as a user types it."""
    text = f'tasks = ["copy"]\npositions = ["rpe"]\nseeds = "0-{skipped - 1}"\n'
    (folder / "sweep.toml").write_text(text)
    pretend_finished(parse_sweep(text, "sweep.toml"), folder / "skipped")
    command = [sys.executable, "-m", "ldhd", "sweep", str(folder / "sweep.toml"), "--out", str(folder / "skipped")]

    def skip() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)

    seconds = [timed(skip) for _ in range(repeats)]
    return within("sweep, finished runs skipped", f"{skipped} runs", SKIPPING_SECONDS, seconds)


def pretend_finished(configs: list[RunConfig], out: Path) -> None:
    """Write folders as finished runs leave them, without weights."""
    done = run_sweep([_config(0, steps=1)], out.with_name("model-run"), in_processes(1)).records[0]
    for config in configs:
        results = [replace(done.results[0], scale=scale, n=config.test_instances) for scale in config.test_scales]
        own = {"hash": config.hash, "seed": config.seed, "steps": config.train.steps, "results": results}
        row = {"loss": 1.0, "learning_rate": 1e-3, "gradient_norm": 1.0, "accuracy": {"1": 1.0, "2": 1.0}}
        steps = range(config.train.evaluate_every, config.train.steps + 1, config.train.evaluate_every)
        folder = Study(out).folder(config)
        folder.prepare(config)
        folder.write_metrics([{"step": step, **row} for step in steps])
        folder.write_result(done.model_copy(update=own), trace={})


def _config(seed: int, steps: int) -> RunConfig:
    return make_config("copy", "rpe", seed=seed, steps=steps, test_scales=(1, 2), settings=TINY)
