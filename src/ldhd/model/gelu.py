"""GPT-2's activation, in half the time that torch takes for it on a CPU."""

import math
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import Function

LINEAR = 2 * math.sqrt(2 / math.pi)
CUBIC = 0.044715 * LINEAR


class GELU(nn.Module):
    """x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 = x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3))."""

    def forward(self, x: Tensor) -> Tensor:
        return _GELU.apply(x) if x.device.type == "cpu" else F.gelu(x, approximate="tanh")


class _GELU(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        gate = (x * x).mul_(CUBIC).add_(LINEAR).mul_(x).sigmoid_()
        ctx.save_for_backward(x, gate)
        return gate * x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        x, gate = ctx.saved_tensors
        slope = (x * x).mul_(3 * CUBIC).add_(LINEAR).mul_(x)
        return slope.mul_(1 - gate).add_(1).mul_(gate).mul_(gradient)
