"""Checkpoints: a whole training state in one safetensors file, written atomically and checked when read."""

import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor, nn

from ldhd.files import BadFileError, Guard
from ldhd.tensors import Header, Layout, layout, read_header, read_tensors, write_tensors
from ldhd.train.metrics import Metrics, check_metrics
from ldhd.train.precision import Precision
from ldhd.train.state import State, ordered_parameters

KEPT = 2
"""The number of checkpoints kept: if the newest is damaged, the one before it is used."""


class Progress(BaseModel):
    """How far the training of a run has come, in the metadata of a checkpoint."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    owner: str
    step: int = Field(ge=0)
    seconds: float = Field(ge=0)
    metrics: Metrics
    precision: Precision | None = None


def save(folder: Path, state: State, owner: str, guard: Guard = lambda: None) -> None:
    """Write the state of the run `owner` and drop checkpoints older than the newest two."""
    tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
    for index, values in state.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in values.items()}
    metadata = {"owner": owner, "step": state.step, "seconds": state.seconds, "metrics": state.metrics}
    metadata["precision"] = state.precision
    write_tensors(_path(folder, state.step), tensors, metadata, guard)
    drop_old(folder)


def drop_old(folder: Path) -> None:
    """Keep the newest two checkpoints of a folder."""
    for old in saved(folder)[:-KEPT]:
        old.unlink()


def saved(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder, oldest first."""
    return sorted(folder.glob("step-*.safetensors"))


def restore(folder: Path, state: State, owner: str, steps: int) -> bool:
    """Restore the newest undamaged checkpoint, with a warning about damaged ones; return False if there is none.

    `steps` is the length of the training of the run `owner`.
    """
    damaged: list[str] = []
    for path in reversed(saved(folder)):
        try:
            _restore(state, owner, path, steps)
        except (BadFileError, FileNotFoundError) as error:
            damaged.append(str(error))
            continue
        if damaged:
            warnings.warn(f"{'; '.join(damaged)}; going on from {path.name}", stacklevel=2)
        return True
    if damaged:
        warnings.warn(f"{'; '.join(damaged)}; no good checkpoint is left", stacklevel=2)
    return False


def save_model(path: Path, model: nn.Module, owner: str, guard: Guard = lambda: None) -> None:
    """Write the weights of the run `owner`."""
    write_tensors(path, model.state_dict(), {"owner": owner}, guard)


def check_weights(path: Path, folder: Path, model: nn.Module, owner: str, step: int) -> None:
    """Raise BadFileError unless the weights in `path`, or in the last checkpoint, have the shapes of `model`.

    FileNotFoundError if there is no such path, and no good last checkpoint. Only headers are read, so that `model`
    may be an outline without memory.
    """
    try:
        _fits(model, owner, path)(read_header(path))
    except (FileNotFoundError, BadFileError):
        try:
            _fits(model, owner, _path(folder, step), "model.")(read_header(_path(folder, step)))
        except (FileNotFoundError, BadFileError):
            pass
        else:
            return
        raise


def load_model(path: Path, model: nn.Module, owner: str) -> None:
    """Load the weights of the run `owner`; BadFileError if they are damaged or those of another run."""
    tensors, _ = read_tensors(path, _fits(model, owner, path))
    _load_weights(model, tensors)


def load_final(folder: Path, model: nn.Module, owner: str, step: int) -> None:
    """Load the weights from the checkpoint of the last step."""
    path = _path(folder, step)
    tensors, _ = read_tensors(path, _fits(model, owner, path, "model."))
    _load_weights(model, _part(tensors, "model."))


def _path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:08d}.safetensors"


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _restore(state: State, owner: str, path: Path, steps: int) -> None:
    tensors, header = read_tensors(path, _fits(state.model, owner, path, "model."))
    try:
        found = Progress.model_validate(header.metadata)
        check_metrics(found.metrics, path)
    except ValidationError as error:
        raise BadFileError(f"{path} is no checkpoint: {error.errors()[0]['msg']}") from None
    if found.step > steps or path.name != _path(path.parent, found.step).name:
        raise BadFileError(f"{path} is no checkpoint of this run: it is of step {found.step}")
    _load_weights(state.model, _part(tensors, "model."))
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _part(tensors, "optimizer.").items():
        index, key = name.split(".")
        moments.setdefault(int(index), {})[key] = tensor
    groups = state.optimizer.state_dict()["param_groups"]
    state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    state.step, state.seconds, state.metrics = found.step, found.seconds, found.metrics
    if "precision" in found.model_fields_set:  # absent in checkpoints of earlier versions
        state.precision = found.precision


def _fits(model: nn.Module, owner: str, path: Path, prefix: str = "") -> Callable[[Header], None]:
    """Return what raises BadFileError for a header of another run, or one whose tensors are not those of the model.

    With a prefix the file is a checkpoint, and also holds AdamW's tensors for some or all parameters.
    """
    weights = layout({f"{prefix}{name}": tensor for name, tensor in model.state_dict().items()})
    moments: list[Layout] = []
    for index, parameter in enumerate(ordered_parameters(model) if prefix else []):
        own = {"step": torch.zeros(()), "exp_avg": parameter, "exp_avg_sq": parameter}
        moments.append(layout({f"optimizer.{index}.{name}": tensor for name, tensor in own.items()}))

    def check(header: Header) -> None:
        found = header.metadata.get("owner")
        if found != owner:
            raise BadFileError(f"{path} belongs to run {str(found)[:100]}, not to {owner}")
        if prefix and not any(name.startswith(prefix) for name in header.layout):
            raise BadFileError(f"{path} is no checkpoint but something else")
        expected = {**weights}
        for own in moments:
            expected |= own if own.keys() & header.layout.keys() else {}
        if header.layout != expected:
            raise BadFileError(f"{path} holds the weights of another model")

    return check


def _load_weights(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    with torch.no_grad():
        model.load_state_dict(tensors)
