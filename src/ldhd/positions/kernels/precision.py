"""The precision in which kernels compute."""

import torch
from torch import Tensor


def full_precision(x: Tensor) -> Tensor:
    """Return `x` in float32 if it is in half precision, which is too coarse to sum many weights, else unchanged."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
