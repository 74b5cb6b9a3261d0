"""The whole attention with each embedding, against RPE with an unclipped table."""

import copy
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ldhd.bench.memory import peak_memory
from ldhd.bench.ratio import Case, exponent, in_turn, summary
from ldhd.model.attention import Attention
from ldhd.model.config import MODELS, ModelConfig
from ldhd.positions import POSITIONS
from ldhd.positions.context import Context
from ldhd.positions.functional import rpe_square_bias

SIZES = {24: 128, 48: 64, 128: 16, 256: 4, 512: 2, 1024: 1}
"""Length -> batch size, smaller where strings are long."""

ROUNDS = 11
BASE = "rpe"
MODEL = ModelConfig(layers=1, heads=MODELS["base"].heads, dimension=MODELS["base"].dimension)
FORMULA_LENGTH = 48

EMBEDDINGS: dict[str, tuple[str, dict[str, Any]]] = {
    BASE: ("rpe", {"max_distance": 1023}),
    "none": ("none", {}),
    "rope": ("rope", {}),
    "alibi": ("alibi", {}),
    "rpe-absolute": ("rpe-absolute", {"max_distance": 1023}),
    "rpe-square w=2": ("rpe-square", {"max_distance": 2}),
    "rpe-square w=3": ("rpe-square", {"max_distance": 3}),
    "rpe-square w=3 separate": ("rpe-square", {"max_distance": 3, "projections": "separate"}),
    "rpe-square unclipped": ("rpe-square", {"max_distance": 1023}),
    "rpe-square w=3 hard": ("rpe-square", {"max_distance": 3, "hard": True}),
    "latent-window": ("latent-window", {"absolute": True}),
}
"""`absolute`, `abacus` and `coupled` add to the token embeddings: their attention is that of `none`."""


LONG_SIZES = (1024, 2048, 4096, 8192)
LONG_MODEL = ModelConfig(layers=1, heads=2, dimension=32)
LONG_EMBEDDINGS = (BASE, "none", "rpe-square w=3", "rpe-square w=3 hard", "latent-window")


def length_cases(sizes: Sequence[int] = LONG_SIZES, rounds: int = 3) -> list[Case]:
    """Measure how time and memory of a small attention grow with the length of one string, forward and backward."""
    time: dict[str, list[float]] = {name: [] for name in LONG_EMBEDDINGS}
    memory: dict[str, list[float]] = {name: [] for name in LONG_EMBEDDINGS}
    cases = []
    for n in sizes:
        _, both = _actions(n, 1, LONG_MODEL, LONG_EMBEDDINGS)
        seconds = in_turn(both, rounds)
        shape = f"n={n}, {LONG_MODEL.heads} heads, dimension {LONG_MODEL.dimension}"
        for name, measured in seconds.items():
            time[name].append(statistics.median(measured))
            memory[name].append(peak_memory(both[name]))
            case = f"{name}, forward+backward"
            cases.append(summary(case, shape, BASE, time[name][-1:], time[BASE][:1], "growth", n))
            if n > sizes[0]:
                twice = f"n={sizes[len(time[name]) - 2]}"
                cases.append(summary(f"{case}, growth", shape, twice, measured, time[name][-2:-1] * rounds, "cost", n))
    return [*cases, *_exponents(list(sizes), {"time": time, "memory": memory})]


def attention_cases(sizes: dict[int, int] = SIZES, rounds: int = ROUNDS) -> list[Case]:
    """Compare time and memory of each embedding with those of RPE, at each length."""
    cases: list[Case] = []
    time: dict[str, list[float]] = {name: [] for name in EMBEDDINGS}
    memory: dict[str, list[float]] = {name: [] for name in EMBEDDINGS}
    for n, batch in sizes.items():
        shape = f"n={n}, batch {batch}, {MODEL.heads} heads, dimension {MODEL.dimension}"
        forward, both = _actions(n, batch)
        for what, actions in (("forward", forward), ("forward+backward", both)):
            seconds = in_turn(actions, rounds)
            for name in EMBEDDINGS:
                cases.append(summary(f"{name}, {what}", shape, BASE, seconds[name], seconds[BASE], "cost", n))
        for name in EMBEDDINGS:
            time[name].append(statistics.median(seconds[name]) / batch)
            memory[name].append(peak_memory(both[name]) / batch)
            case = f"{name}, forward+backward"
            cases.append(summary(case, shape, BASE, memory[name][-1:], memory[BASE][-1:], "memory", n))
            cases.append(summary(case, shape, BASE, time[name][-1:], time[BASE][:1], "growth", n))
    # from n = 128 on the cost depends on the length
    lengths = [n for n in sizes if n >= 128 or len(sizes) < 4]
    cases += _exponents(lengths, {"time": time, "memory": memory})
    return [*cases, printed_formula_case(FORMULA_LENGTH)]


def _exponents(lengths: list[int], values: dict[str, dict[str, list[float]]]) -> list[Case]:
    """Fit power laws to the last values of each embedding."""
    cases = []
    for what, measured in values.items():
        for name, own in measured.items():
            power = exponent(lengths, own[-len(lengths) :])
            case, shape = f"{name}, {what}, forward+backward", f"n={lengths[0]} to {lengths[-1]}"
            cases.append(summary(case, shape, "n", [power], [1.0], "exponent"))
    return cases


def printed_formula_case(n: int, rounds: int = 3) -> Case:
    """Compare one head with the printed double sum in dense tensors, which hold a vector for each (j, l, i, k)."""
    torch.manual_seed(0)
    q, table = torch.randn(1, 1, n, 16), torch.randn(2 * n - 1, 16)
    anchor = torch.randn(1, 1, n, n).masked_fill(torch.ones(n, n).triu(1) > 0, -torch.inf).softmax(-1)
    inputs = [tensor.requires_grad_() for tensor in (q, anchor, table)]
    if not torch.allclose(rpe_square_bias(q, anchor, table), dense_formula(q, anchor, table), atol=1e-3):
        raise ValueError("the printed formula and ours differ")

    def run(function: Callable[..., Tensor]) -> None:
        torch.autograd.grad(function(*inputs).sum(), inputs)

    seconds = in_turn({"ours": lambda: run(rpe_square_bias), "dense": lambda: run(dense_formula)}, rounds)
    shape = f"n={n}, 1 head of 16, forward+backward"
    against = "the printed formula with dense tensors"
    return summary("rpe-square unclipped", shape, against, seconds["dense"], seconds["ours"], "speed")


def dense_formula(q: Tensor, anchor: Tensor, table: Tensor) -> Tensor:
    """Return the position term of RPE-Square, (B, H, n, n), for q (B, H, n, d) and anchor weights (B, H, n, n)."""
    n = q.shape[-2]
    place = torch.arange(n)
    distance = place[:, None] - place
    index = distance[:, :, None, None] - distance[None, None]
    rows = table[index.clamp(1 - n, n - 1) + n - 1]
    return torch.einsum("bhjd,bhjl,bhik,jlikd->bhji", q, anchor, anchor, rows).tril()


def _actions(
    n: int, batch: int, model: ModelConfig = MODEL, names: Sequence[str] = tuple(EMBEDDINGS)
) -> tuple[dict[str, Callable[[], Any]], dict[str, Callable[[], Any]]]:
    """Return, for each embedding, a forward pass as in a test, and a forward and backward pass as in training."""
    torch.manual_seed(0)
    x, upstream = torch.randn(2, batch, n, model.dimension)
    testing, training = Context.causal(x), Context.causal(x, exploring=True)

    @torch.no_grad()
    def forward(attention: Attention) -> None:
        attention(x.flatten(0, 1), [testing], [n])

    def both(attention: Attention) -> None:
        attention.zero_grad()
        attention(x.detach().flatten(0, 1).requires_grad_(), [training], [n]).backward(upstream.flatten(0, 1))

    modules = {}
    for name in names:
        kind, options = EMBEDDINGS[name]
        modules[name] = Attention(model, POSITIONS[kind](model.dimension, model.heads, 0, **options))
    return (
        {name: partial(forward, copy.deepcopy(module).eval()) for name, module in modules.items()},
        {name: partial(both, module) for name, module in modules.items()},
    )
