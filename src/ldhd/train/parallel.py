"""Training one model with several processes, started by torchrun: each takes a part of every batch.

Without torchrun there is one process, and nothing here does anything.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from ldhd.train.state import State

PATIENCE = timedelta(hours=12)
"""How long a process waits for the others; the first one alone evaluates and writes meanwhile."""


def size() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    return dist.get_rank() if dist.is_initialized() else 0


def asked_for() -> int:
    """How many processes torchrun started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def together(device: str) -> Iterator[None]:
    """Join the other processes: by gloo on the CPU, by nccl on CUDA, where each process has a device of its own."""
    kind, _, index = device.partition(":")
    if index:
        raise ValueError(f"under torchrun each process has a device of its own; use --device {kind}, not {device}")
    if kind == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if kind == "cuda" else "gloo", timeout=PATIENCE)
    try:
        yield
    finally:
        dist.destroy_process_group()


def agree(flag: bool) -> bool:
    """What the first process says."""
    if size() == 1:
        return flag
    said = torch.tensor([float(flag)], device=_device())
    dist.broadcast(said, 0)
    return bool(said > 0)


def my_part(rows: Tensor) -> Tensor:
    """Every size()-th row from the rank()-th on: parts of a batch differ by one row at most."""
    return rows[rank() :: size()]


def add_up(tensors: list[Tensor]) -> None:
    """Replace tensors by their sums over all processes, in one message."""
    if size() == 1:
        return
    flat = torch.cat([tensor.flatten() for tensor in tensors])
    dist.all_reduce(flat)
    for tensor, summed in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
        tensor.copy_(summed.view_as(tensor))


def share(state: State) -> None:
    """Give all processes the state of the first, which alone read it from a file."""
    if size() == 1:
        return
    device = next(state.model.parameters()).device
    step = torch.tensor([state.step], device=device)
    dist.broadcast(step, 0)
    state.step = int(step)
    tensors = [*state.model.state_dict().values()]
    if state.step > 0:
        tensors += _moments(state)
    for tensor in tensors:
        dist.broadcast(tensor, 0)


def any_of(flag: bool) -> bool:
    """Whether any process says so: all stop at the same step."""
    if size() == 1:
        return flag
    total = torch.tensor([float(flag)], device=_device())
    dist.all_reduce(total)
    return bool(total > 0)


def _device() -> str:
    return "cuda" if dist.get_backend() == "nccl" else "cpu"


def _moments(state: State) -> list[Tensor]:
    """The optimizer's tensors, made first where there are none yet."""
    result = []
    for group in state.optimizer.param_groups:
        for parameter in group["params"]:
            kept = state.optimizer.state[parameter]
            if not kept:
                kept["step"] = torch.tensor(0.0)
                kept["exp_avg"] = torch.zeros_like(parameter)
                kept["exp_avg_sq"] = torch.zeros_like(parameter)
            kept["step"].fill_(float(state.step))
            result += [kept["exp_avg"], kept["exp_avg_sq"]]
    return result
