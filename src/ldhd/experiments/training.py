"""Training of a run, from its newest checkpoint, from the run it extends, or from the start."""

import warnings

from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import RunFolder
from ldhd.experiments.progress import OnProgress, Progress, Stop
from ldhd.files import BadFileError
from ldhd.messages import Interrupted
from ldhd.model import GPT
from ldhd.tasks import Task
from ldhd.train import State, checkpoint, new_state, parallel, train


def train_run(
    config: RunConfig, folder: RunFolder, task: Task, model: GPT, on_progress: OnProgress, stop: Stop
) -> State:
    """Train the model of a run to its last step and write its metrics, checkpoints and weights.

    Raises Interrupted, after a checkpoint, when `stop()` returns True.
    """
    state = new_state(model, config.train)
    if not (checkpoint.restore(folder.checkpoints, state, config.hash) or _restore_weights(state, folder, config)):
        _start_from_extended(state, folder, task, config, stop)
    parallel.broadcast_flag(True)
    parallel.broadcast_state(state)

    def save() -> None:
        folder.write_metrics(state.metrics)
        checkpoint.save(folder.checkpoints, state, config.hash)

    def on_step(state: State, loss: float) -> None:
        if state.step % config.train.checkpoint_every == 0 or state.step == config.train.steps:
            save()
        accuracy = state.metrics[-1]["accuracy"] if state.metrics else None
        on_progress(Progress(config.hash, config.label, "training", state.step, config.train.steps, loss, accuracy))

    train(
        state,
        task,
        config.train_scales,
        config.train,
        config.seed,
        test_scales=config.test_scales,
        on_step=on_step,
        stop=stop,
    )
    if state.step < config.train.steps:
        save()
    check_trained(state, config)
    folder.write_metrics(state.metrics)
    checkpoint.save_model(folder.weights_path, model, config.hash)
    return state


def check_trained(state: State, config: RunConfig) -> None:
    """Raise Interrupted if training has stopped before its last step."""
    if state.step < config.train.steps:
        raise Interrupted(f"{config.label} stopped at step {state.step} of {config.train.steps}")


def _restore_weights(state: State, folder: RunFolder, config: RunConfig) -> bool:
    """Restore the final weights where no checkpoint is left; the seconds of training are then unknown."""
    try:
        metrics = folder.completed_metrics(config)
        if metrics is None:
            return False
        checkpoint.load_model(folder.weights_path, state.model, config.hash)
    except (FileNotFoundError, BadFileError):
        return False
    warnings.warn(
        f"{folder.path} holds weights but no checkpoint: its seconds of training are given as 0", stacklevel=2
    )
    state.step, state.metrics = config.train.steps, metrics
    return True


def _start_from_extended(state: State, folder: RunFolder, task: Task, config: RunConfig, stop: Stop) -> None:
    """Start from the last state of the run that this one extends, if it does; that run lies beside this one."""
    if config.extended_from is None:
        return
    earlier_folder = RunFolder(folder.path.parent / config.extended_from)
    if not earlier_folder.config_path.exists():
        raise ValueError(f"{config.hash} extends the run {config.extended_from}, which is not in {folder.path.parent}")
    earlier = earlier_folder.config()
    if not checkpoint.restore(earlier_folder.checkpoints, state, earlier.hash):
        raise BadFileError(f"{config.hash} extends {earlier_folder.path}, which has no good checkpoint")
    train(state, task, earlier.train_scales, earlier.train, earlier.seed, stop=stop)  # if its last one was damaged
    if state.step < earlier.train.steps:
        raise Interrupted(f"{config.label} stopped before its first step")
