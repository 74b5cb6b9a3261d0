"""One run: config -> model -> training -> evaluation -> record, resumable at any point."""

from pathlib import Path

import ldhd
from ldhd.experiments.checks import check
from ldhd.experiments.config import RunConfig
from ldhd.experiments.evaluation import evaluate_scales, trace_run
from ldhd.experiments.folder import RunFolder
from ldhd.experiments.loading import model_label, new_model, run_task
from ldhd.experiments.progress import OnProgress, Progress, Stop
from ldhd.experiments.record import FITTED, Record, source_commit
from ldhd.experiments.studies import Study
from ldhd.experiments.training import check_trained, train_run
from ldhd.lease import holding
from ldhd.process import prepare
from ldhd.train import new_state, parallel, train


def run(
    config: RunConfig,
    out: Path,
    *,
    threads: int = 1,
    command: str = "",
    on_progress: OnProgress = lambda progress: None,
    stop: Stop = lambda: False,
) -> Record:
    """Return the record of `config`: a stored one if the run is finished in `out`, else by training and testing it.

    Training resumes from the newest checkpoint. While another process works on the same run, this one waits for it.
    """
    record = Study(out).finished(config)
    if record is not None:
        parallel.broadcast_flag(False)
        return record
    check(config)
    return run_unfinished(config, out, threads=threads, command=command, on_progress=on_progress, stop=stop)


def run_unfinished(
    config: RunConfig,
    out: Path,
    *,
    threads: int,
    command: str,
    on_progress: OnProgress,
    stop: Stop,
    wait: bool = True,
) -> Record:
    """Do a run that was checked and not finished when its caller looked.

    While another process works on it this one waits, or raises HeldError without `wait`.
    """
    folder = Study(out).folder(config)

    def on_wait() -> None:
        on_progress(Progress.of(config, "waiting"))

    with holding(folder.path, wait=wait, stop=stop, on_wait=on_wait):
        record = folder.finished(config)  # another process may have finished it since
        if record is not None:
            parallel.broadcast_flag(False)
            return record
        return _run(config, folder, threads, command, on_progress, stop)


def follow(config: RunConfig, threads: int, stop: Stop) -> None:
    """Train along with the first process of torchrun, which does `run`, if there is anything to train."""
    if not parallel.broadcast_flag(False):
        return
    model = new_model(config)
    prepare(threads)
    state = new_state(model, config.train)
    parallel.broadcast_state(state)
    train(state, run_task(config), config.train_scales, config.train, config.seed, stop=stop)
    check_trained(state, config)


def _run(
    config: RunConfig, folder: RunFolder, threads: int, command: str, on_progress: OnProgress, stop: Stop
) -> Record:
    task, model = run_task(config), new_model(config)
    prepare(threads)
    folder.prepare(config)
    state = train_run(config, folder, task, model, on_progress, stop)
    results = evaluate_scales(config, task, model, on_progress, stop)
    record = Record(
        hash=config.hash,
        task=config.task,
        position=config.position,
        model=model_label(config),
        seed=config.seed,
        train_scales=list(config.train_scales),
        fitted=all(results[scale].exact >= FITTED for scale in config.train_scales),
        results=[results[scale] for scale in config.test_scales],
        steps=state.step,
        seconds=round(state.seconds, 2),
        threads=threads,
        version=ldhd.__version__,
        commit=source_commit(),
        command=command,
        extended_from=config.extended_from,
    )
    folder.write_result(record, trace_run(config, task, model))
    return record
