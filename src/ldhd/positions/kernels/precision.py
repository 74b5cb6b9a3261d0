"""The precision in which kernels compute."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def full_precision(x: Tensor) -> Tensor:
    """Return `x` in float32 if it is in half precision, which is too coarse to sum many weights, else unchanged."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def widest(x: Tensor) -> Tensor:
    """Return `x` in float64, or in float32 on a device that has no float64."""
    return x.float() if x.device.type == "mps" else x.double()


def without_autocast(device: torch.device) -> AbstractContextManager[None]:
    """Switch autocast off, on a device that has it."""
    if torch.amp.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()
