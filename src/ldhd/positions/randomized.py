"""Randomized positions: tokens at random rising ids from a range longer than any string."""

import random
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cache
from typing import ClassVar, Literal, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ldhd.positions.absolute import Absolute
from ldhd.positions.alibi import Alibi
from ldhd.positions.context import Context, Keys, Queries, key_positions
from ldhd.positions.fire import Fire
from ldhd.positions.position import Position
from ldhd.positions.relative import Relative
from ldhd.positions.rope import Rotary
from ldhd.positions.rpe import RPE

Place = TypeVar("Place", int, Tensor)

TestIds = Literal["spaced", "drawn"]

DRAWS = 8
"""Random draws among the `training_relations`."""


class Randomized(Position):
    """Another embedding, at ids from 0 .. `max_length` - 1 instead of the positions 0 .. n - 1.

    In training each layer draws for each row of n tokens, padding included, n distinct ids and sorts them. In a test
    the ids are fixed by default, id(p) = floor(p `max_length` / `test_length`): evenly spaced, for strings of up to
    `test_length` tokens, so that an answer depends neither on chance nor on tokens that are still to come. With
    `test_ids="drawn"` ids are drawn in tests too, as in the paper, as many as the row has valid tokens; decoding then
    reads the whole string again for each token. The draws are the same in every test.
    Ruoss et al., Randomized Positional Encodings Boost Length Generalization of Transformers, 2023.
    """

    relation_options: ClassVar[tuple[str, ...]] = ("max_length", "test_length", "test_ids")
    added_options: ClassVar[tuple[str, ...]] = ("test_ids",)
    enumerable = False  # there are more draws of ids than can be listed
    reads_padding = True  # padding tokens get ids too

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        max_length: int = 2048,
        test_length: int = 128,
        test_ids: TestIds = "spaced",
    ):
        super().__init__(dimension, heads, layer)
        if test_ids not in ("spaced", "drawn"):
            raise ValueError(f"test_ids must be spaced or drawn, got {test_ids!r}")
        if not 1 <= test_length <= max_length:
            raise ValueError(f"test_length must be from 1 to max_length = {max_length}, got {test_length}")
        self.max_length, self.test_length = max_length, test_length
        self.redraws = test_ids == "drawn"
        self.wrapped = self.wrap()

    @abstractmethod
    def wrap(self) -> Position:
        """The embedding that is given the ids."""

    def ids(self, positions: Int[Tensor, "B n"], context: Context) -> Int[Tensor, "B n"]:
        """Return the ids of tokens at these positions of their strings, drawn anew while exploring."""
        if self.redraws and not context.exploring:
            return self._drawn_in_test(positions, context)
        if not context.exploring:
            # only where there are more tokens than ids, padding included, do values decide
            if context.keys > self.test_length and (last := int(positions.max())) >= self.test_length:
                raise ValueError(f"randomized: position {last} is beyond the test_length of {self.test_length}")
            return self._test_id(positions)
        rows, n = positions.shape
        if n > self.max_length:
            raise ValueError(f"randomized: {n} tokens are more than the {self.max_length} ids to draw from")
        drawn = torch.rand(rows, self.max_length, generator=context.generator, device=positions.device)
        return drawn.topk(n).indices.sort().values.gather(1, positions)

    def _drawn_in_test(self, positions: Int[Tensor, "B n"], context: Context) -> Int[Tensor, "B n"]:
        """Return sorted ids, as many as the row has valid tokens; the draws of each length come from its own stream."""
        lengths = context.valid.sum(1, keepdim=True)
        if positions.shape[1] > self.max_length and int(lengths.max()) > self.max_length:
            raise ValueError(f"randomized: {int(lengths.max())} tokens are more than the {self.max_length} ids")
        stream = torch.Generator(positions.device).manual_seed(positions.shape[1])
        drawn = torch.rand(len(positions), self.max_length, generator=stream, device=positions.device)
        largest = drawn.sort().values.gather(1, lengths - 1)
        return torch.searchsorted((drawn <= largest).cumsum(1), positions + 1)

    def check_fits(self, tokens: Sequence[str], training: bool) -> None:
        draws = training or self.redraws
        name, longest = ("max_length", self.max_length) if draws else ("test_length", self.test_length)
        if len(tokens) > longest:
            raise ValueError(
                f"randomized: a string of {len(tokens)} tokens is longer than the {name} of {longest}; raise {name}"
            )

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        """Return the class at the ids of a test, or at one of the draws."""
        if self.redraws:
            ids = _draw(self.max_length, len(tokens), DRAWS)
            return self.wrapped.relation(tokens, ids[j], ids[i])
        return self.wrapped.relation(tokens, self._test_id(j), self._test_id(i))

    def training_relations(self, tokens: Sequence[str], j: int, i: int) -> tuple[Hashable, ...]:
        """Return the classes at the ids of a test and at `DRAWS` of the very many draws: others may cover more."""
        drawn = [_draw(self.max_length, len(tokens), seed) for seed in range(DRAWS)]
        found = (self.wrapped.relation(tokens, ids[j], ids[i]) for ids in drawn)
        return self.relation(tokens, j, i), *found

    def _test_id(self, position: Place) -> Place:
        return position * self.max_length // self.test_length


class RandomizedAbsolute(Randomized):
    """x_i + p_{id(i)}: `absolute` at n random ids of `max_length`, in rising order."""

    name = "randomized-absolute"
    title = "Randomized APE"
    color = "#C7B27C"
    additive = True

    def wrap(self) -> Position:
        return Absolute(self.dimension, self.heads, self.layer, table_size=self.max_length)

    def initialise(self, std: float) -> None:
        self.wrapped.initialise(std)

    def embed(self, tokens: Int[Tensor, "B q"], context: Context) -> Float[Tensor, "B q D"] | float:
        return self.wrapped.embed(tokens, replace(context, positions=self.ids(context.positions, context)))


class RandomizedRotary(Randomized):
    """`rope` at n random ids of `max_length`, in rising order."""

    name = "randomized-rope"
    title = "Randomized RoPE"
    color = "#F2C879"

    def wrap(self) -> Position:
        return Rotary(self.dimension, self.heads, self.layer)

    def rotate(self, q: Queries, k: Queries, context: Context) -> tuple[Queries, Queries]:
        return self.wrapped.rotate(q, k, replace(context, positions=self.ids(context.positions, context)))


class RandomizedRelative(Randomized):
    """One that adds a term of query and key."""

    additive = True
    wrapped: Relative

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "#B H q k"]:
        positions = key_positions(context.visible)
        drawn = context.exploring or self.redraws
        keys = self.ids(positions.expand(len(q), -1) if drawn else positions, context)
        return self.wrapped.bias_at(q, keys[:, -q.shape[-2] :], keys)


class RandomizedRPE(RandomizedRelative):
    """q_j . (k_i + R_{id(j) - id(i)}): `rpe` at n random ids of `max_length`, in rising order."""

    name = "randomized-rpe"
    title = "Randomized RPE"
    color = "#EBA877"

    def wrap(self) -> Relative:
        return RPE(self.dimension, self.heads, self.layer, max_distance=self.max_length - 1)


class RandomizedAlibi(RandomizedRelative):
    """-slope_h (id(j) - id(i)): `alibi` at n random ids of `max_length`, in rising order."""

    name = "randomized-alibi"
    title = "Randomized ALiBi"
    color = "#A6D8F3"
    falling = True

    def wrap(self) -> Relative:
        return Alibi(self.dimension, self.heads, self.layer)


class RandomizedFire(RandomizedRelative):
    """f(psi(id(j) - id(i)) / psi(max(L, id(j)))): `fire` at n random ids of `max_length`, in rising order."""

    name = "randomized-fire"
    title = "Randomized FIRE"
    color = "#F4A79A"
    relation_options = ("max_length", "test_length", "test_ids", "threshold")

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        max_length: int = 2048,
        test_length: int = 128,
        threshold: float = 512.0,
        test_ids: TestIds = "spaced",
    ):
        self.threshold = threshold
        super().__init__(dimension, heads, layer, max_length=max_length, test_length=test_length, test_ids=test_ids)

    def wrap(self) -> Relative:
        return Fire(self.dimension, self.heads, self.layer, threshold=self.threshold)


@cache
def _draw(max_length: int, n: int, seed: int) -> tuple[int, ...]:
    return tuple(sorted(random.Random(seed).sample(range(max_length), n)))
