"""The arithmetic of training: float32, or bfloat16 autocast where it is faster. Tests are always done in float32."""

import contextlib
from typing import Any, Literal

import torch

Precision = Literal["float32", "bfloat16"]

FASTER_FROM = 256
"""The dimension of a model from which on bfloat16 is clearly faster on a CPU that multiplies it (`ldhd bench step`)."""


def choose(wanted: Precision | Literal["auto"], dimension: int, device: torch.device) -> Precision:
    """Return the arithmetic in which a model of this dimension is trained on a device.

    `auto` depends on what the device can do and on the size of the model, never on a timing, so that the same run on
    the same machine always gets the same arithmetic.
    """
    if wanted != "auto":
        return wanted
    faster = torch.cuda.is_bf16_supported() if device.type == "cuda" else _cpu_multiplies() and dimension >= FASTER_FROM
    return "bfloat16" if faster and device.type in ("cuda", "cpu") else "float32"


def autocast(precision: Precision | None, device: torch.device) -> contextlib.AbstractContextManager[Any]:
    """Return the context in which the forward pass of training runs."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext()


def _cpu_multiplies() -> bool:
    """Whether the CPU has instructions that multiply bfloat16; without them it is slower than float32."""
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
