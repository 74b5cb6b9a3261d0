"""Multi-query recall: the values of several keys, looked up in a list of pairs of a key and its value."""

from typing import NamedTuple

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task


class Lookup(NamedTuple):
    """Keys with the values they have, and the keys that are asked for; a key has the same value wherever it stands."""

    keys: Digits
    values: Digits
    queries: Digits


class Lookups(LatentSpace):
    """n pairs and n queries. Keys are uniform on 0 .. 9 and have random values; each query is one of the keys."""

    def sample(self, scale: int, generator: torch.Generator) -> Lookup:
        keys, table = digits.uniform(scale, 10, generator), digits.uniform(10, 10, generator)
        asked = digits.uniform(scale, scale, generator)
        return Lookup(keys, tuple(table[key] for key in keys), tuple(keys[place] for place in asked))

    def scale(self, latent: Lookup) -> int:
        return len(latent.keys)

    def hard(self, scale: int) -> list[Lookup]:
        """List tables of one value, keys that are asked for far from their place, and values that are keys."""
        keys = tuple(place % 10 for place in range(scale))
        found = [Lookup(keys, (value,) * scale, keys) for value in (0, 9)]
        found += [Lookup(keys, tuple((key + shift) % 10 for key in keys), keys[::-1]) for shift in (0, 1, 5)]
        return [*found, Lookup(keys, tuple(9 - key for key in keys), (keys[-1],) * scale)]

    def shapes(self, scale: int) -> list[Lookup]:
        """Return instances of the only shape, among which every key, value and query varies."""
        return [Lookup((key,) * scale, (value,) * scale, (key,) * scale) for key, value in ((1, 2), (3, 4))]


def looked_up(latent: Lookup) -> Digits:
    """Return the value of each key that is asked for."""
    table = dict(zip(latent.keys, latent.values, strict=True))
    return tuple(table[query] for query in latent.queries)


class RecallFormat(Format):
    """`b k_0 v_0 ... k_{n-1} v_{n-1} + q_0 ... q_{n-1} = z_0 ... z_{n-1} e`, where z_t is the value of the key q_t.

    >>> b417341+477=133e      4 has the value 1, 7 has 3
    >>> b52+5=2e

    By the theory no chain of thought is needed, but a second layer: the first one tells each value its key, so that the
    second one finds the value by the key that is asked for.
    """

    by_content = "a value is found by the key before it, wherever the pair stands"

    def prompt(self, latent: Lookup) -> str:
        pairs = "".join(f"{key}{value}" for key, value in zip(latent.keys, latent.values, strict=True))
        return f"b{pairs}+{digits.write(latent.queries)}="

    def answer(self, latent: Lookup, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Lookup:
        left, right = digits.operands(prompt, "+", "b4173+47=")
        pairs, queries = digits.read(left, "the pairs"), digits.read(right, "the keys that are asked for")
        keys, values = pairs[::2], pairs[1::2]
        if len(keys) != len(values) or len(queries) != len(keys):
            raise ValueError(f"there must be as many pairs of two digits as keys that are asked for, got {prompt!r}")
        if len(set(zip(keys, values, strict=True))) > len(set(keys)):
            raise ValueError(f"each key must have one value, got {prompt!r}")
        if not set(queries) <= set(keys):
            raise ValueError(f"each key that is asked for must have a value, got {prompt!r}")
        return Lookup(keys, values, queries)

    def needs(self, latent: Lookup, label: Digits) -> Needs:
        """A value needs the key that is asked for and all pairs, each in a slot of its own; `e` follows after them."""
        n = len(label)
        pairs: dict[str, int | None] = {
            f"{name}_{k}": 1 + 2 * k + part for k in range(n) for part, name in enumerate(("key", "value"))
        }
        return [*({"query": index_of(t, 2 * n + 2, n)} | pairs for t in range(n)), {}]


RECALL = Task("recall", Lookups(), looked_up, RecallFormat())
