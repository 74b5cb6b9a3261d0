"""Evaluation of a run: exact match by scale, and a trace of one instance."""

from pathlib import Path
from typing import Any

from ldhd import seeds
from ldhd.evaluate import ScaleResult, evaluate, trace
from ldhd.experiments.checks import check_fits
from ldhd.experiments.config import RunConfig
from ldhd.experiments.loading import load_run
from ldhd.experiments.progress import OnProgress, Progress, Stop
from ldhd.messages import Interrupted
from ldhd.model import GPT
from ldhd.tasks import Task


def evaluate_run(
    path: Path, scales: tuple[int, ...], instances: int | None = None, device: str = "cpu"
) -> tuple[RunConfig, list[ScaleResult]]:
    """Evaluate the finished run in the folder `path` at any scales, on as many instances as in the run by default."""
    config, task, model = load_run(path, device)
    check_fits(model.position, task, scales, training=False)
    n = instances or config.test_instances
    return config, [evaluate(model, task, scale, n, config.seed) for scale in scales]


def evaluate_scales(
    config: RunConfig, task: Task, model: GPT, on_progress: OnProgress, stop: Stop
) -> dict[int, ScaleResult]:
    """Evaluate at every test scale and, since they decide whether the run is fitted, at every training scale."""
    scales = sorted({*config.train_scales, *config.test_scales})
    results = {}
    for done, scale in enumerate(scales):
        if stop():
            raise Interrupted(f"{config.label} stopped while testing")
        on_progress(Progress.of(config, "testing", done, len(scales)))
        results[scale] = evaluate(model, task, scale, config.test_instances, config.seed)
    on_progress(Progress.of(config, "done", 1, 1))
    return results


def trace_run(config: RunConfig, task: Task, model: GPT) -> dict[str, Any]:
    """Return the trace of the model on one instance, which is the same for every run of the task and its scales."""
    scale = example_scale(config)
    traced = trace(model, task.sample(scale, seeds.generator(0, "trace", task.name, scale)))
    return traced.document(task.needs(traced.instance), config.position)


def example_scale(config: RunConfig) -> int:
    """Return the scale of the traced instance: the largest tested up to twice the training scales."""
    within = [scale for scale in config.test_scales if scale <= 2 * max(config.train_scales)]
    return max(within, default=min(config.test_scales))
