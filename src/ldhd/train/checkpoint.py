"""Checkpoints: a whole training state in one safetensors file, written atomically and checked when read."""

import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ldhd.files import BadFileError, read_tensors, write_tensors
from ldhd.train.state import State

KEPT = 2
"""The number of checkpoints kept: if the newest is damaged, the one before it is used."""


def save(folder: Path, state: State, owner: str) -> None:
    """Write the state of the run `owner` and drop checkpoints older than the newest two."""
    tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
    for index, values in state.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in values.items()}
    metadata = {"owner": owner, "step": state.step, "seconds": state.seconds, "metrics": state.metrics}
    metadata["precision"] = state.precision
    write_tensors(_path(folder, state.step), tensors, metadata)
    drop_old(folder)


def drop_old(folder: Path) -> None:
    """Keep the newest two checkpoints of a folder."""
    for old in saved(folder)[:-KEPT]:
        old.unlink()


def saved(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder, oldest first."""
    return sorted(folder.glob("step-*.safetensors"))


def restore(folder: Path, state: State, owner: str) -> bool:
    """Restore the newest undamaged checkpoint, with a warning about damaged ones; return False if there is none."""
    damaged: list[str] = []
    for path in reversed(saved(folder)):
        try:
            tensors, metadata = read_tensors(path)
            _restore(state, tensors, metadata, owner, path)
        except BadFileError as error:
            damaged.append(str(error))
            continue
        if damaged:
            warnings.warn(f"{'; '.join(damaged)}; going on from {path.name}", stacklevel=2)
        return True
    if damaged:
        warnings.warn(f"{'; '.join(damaged)}; no good checkpoint is left", stacklevel=2)
    return False


def save_model(path: Path, model: nn.Module, owner: str) -> None:
    """Write the weights of the run `owner`."""
    write_tensors(path, model.state_dict(), {"owner": owner})


def load_model(path: Path, model: nn.Module, owner: str) -> None:
    """Load the weights of the run `owner`; BadFileError if they are damaged or those of another run."""
    tensors, metadata = read_tensors(path)
    _check_owner(metadata, owner, path)
    _load_weights(model, tensors, path)


def load_final(folder: Path, model: nn.Module, owner: str, step: int) -> None:
    """Load the weights from the checkpoint of the last step."""
    path = _path(folder, step)
    tensors, metadata = read_tensors(path)
    _check_owner(metadata, owner, path)
    _load_weights(model, {name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")}, path)


def _path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:08d}.safetensors"


def _restore(state: State, tensors: dict[str, Tensor], metadata: dict[str, Any], owner: str, path: Path) -> None:
    _check_owner(metadata, owner, path)
    parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        if part not in parts:
            raise BadFileError(f"{path} is no checkpoint but something else: it holds {name}")
        parts[part][rest] = tensor
    _load_weights(state.model, parts["model"], path)
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in parts["optimizer"].items():
        index, key = name.split(".")
        moments.setdefault(int(index), {})[key] = tensor
    groups = state.optimizer.state_dict()["param_groups"]
    state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    state.step, state.seconds, state.metrics = metadata["step"], metadata["seconds"], metadata["metrics"]
    state.precision = metadata.get("precision", state.precision)  # absent in checkpoints of earlier versions


def _check_owner(metadata: dict[str, Any], owner: str, path: Path) -> None:
    if metadata["owner"] != owner:
        raise BadFileError(f"{path} belongs to run {metadata['owner']}, not to {owner}")


def _load_weights(model: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    expected = {name: value.shape for name, value in model.state_dict().items()}
    if expected != {name: value.shape for name, value in tensors.items()}:
        raise BadFileError(f"{path} holds the weights of another model")
    with torch.no_grad():
        model.load_state_dict(tensors)
