"""Training of one model by several processes that torchrun has started: each takes a part of every batch.

Without torchrun there is one process, and these functions do nothing.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from ldhd.process import LostPeerError
from ldhd.train.state import State

PATIENCE = timedelta(hours=12)
"""How long a process waits for the others, for example while the first one evaluates and writes."""


LOSS = ("gloo", "nccl", "connection", "timed out", "socket")
"""Words in the errors of torch.distributed about a process that does not answer."""


def size() -> int:
    """Return the number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Return the number of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def processes_started() -> int:
    """Return how many processes torchrun has started; 1 without torchrun."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def connected(device: str) -> Iterator[None]:
    """Connect the processes: by gloo on the CPU, by nccl on CUDA, where each process has a device of its own."""
    kind, _, index = device.partition(":")
    if index:
        raise ValueError(f"under torchrun each process has a device of its own; use --device {kind}, not {device}")
    if kind == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if kind == "cuda" else "gloo", timeout=PATIENCE)
    try:
        yield
    except RuntimeError as error:
        if not any(word in str(error).lower() for word in LOSS):
            raise
        reason = str(error).splitlines()[0].rpartition("] ")[2].split(". ")[0]
        raise LostPeerError(
            f"another process of torchrun is gone ({reason}); repeat the command: the run goes on from its checkpoint"
        ) from None
    finally:
        dist.destroy_process_group()


def broadcast_flag(flag: bool) -> bool:
    """Return the flag of the first process in all processes."""
    if size() == 1:
        return flag
    said = torch.tensor([float(flag)], device=_device())
    dist.broadcast(said, 0)
    return bool(said > 0)


def own_rows(rows: Tensor) -> Tensor:
    """Return the rows of this process, every size()-th from the rank()-th on; parts differ by one row at most."""
    return rows[rank() :: size()]


def sum_over_processes(tensors: list[Tensor]) -> None:
    """Replace tensors by their sums over all processes, in one communication."""
    if size() == 1:
        return
    flat = torch.cat([tensor.flatten() for tensor in tensors])
    dist.all_reduce(flat)
    for tensor, summed in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
        tensor.copy_(summed.view_as(tensor))


def broadcast_state(state: State) -> None:
    """Copy the state of the first process, which has read it from a file, to all others."""
    if size() == 1:
        return
    device = next(state.model.parameters()).device
    step = torch.tensor([state.step], device=device)
    dist.broadcast(step, 0)
    state.step = int(step)
    state.precision = "bfloat16" if broadcast_flag(state.precision == "bfloat16") else "float32"
    tensors = [*state.model.state_dict().values()]
    if state.step > 0:
        tensors += _moments(state)
    for tensor in tensors:
        dist.broadcast(tensor, 0)


def any_of(flag: bool) -> bool:
    """Return whether the flag is set in any process, so that all of them stop at the same step."""
    if size() == 1:
        return flag
    total = torch.tensor([float(flag)], device=_device())
    dist.all_reduce(total)
    return bool(total > 0)


def _device() -> str:
    return "cuda" if dist.get_backend() == "nccl" else "cpu"


def _moments(state: State) -> list[Tensor]:
    """Return the tensors of the optimizer, after creating those that do not exist yet."""
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
