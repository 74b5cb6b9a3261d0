"""Multi-layer perceptrons, all seeds in one batched model."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from ldhd import seeds
from ldhd.bias.training import Ensemble


class MLPs(Ensemble):
    """ReLU networks of x_1 .. x_N whose weights are stacked, so that one product serves all seeds."""

    def __init__(self, dimension: int, width: int, layers: int, chosen: Sequence[int]) -> None:
        self.bits = 1 << torch.arange(dimension)
        sizes = [dimension, *[width] * layers, 1]
        networks = []
        for seed in chosen:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seeds.derive(seed, "bias", "mlp"))
                parts = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
                networks.append(nn.Sequential(*parts[:-1]))
        self.network = networks[0]
        self.weights, _ = stack_module_state(networks)

    def parameters(self) -> Sequence[Tensor]:
        return list(self.weights.values())

    def __call__(self, rows: Tensor) -> Tensor:
        points = 1.0 - 2.0 * ((rows[..., None] & self.bits) > 0)

        def forward(weights: dict[str, Tensor], points: Tensor) -> Tensor:
            return functional_call(self.network, weights, (points,))[..., 0]

        values: Tensor = vmap(forward, in_dims=(0, 0 if rows.ndim == 2 else None))(self.weights, points)
        return values
