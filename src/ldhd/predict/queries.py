"""All queries of some strings as arrays: their keys, their needs, and the class and type of every key.

Letters in shapes: R rows, one for each query and each random choice of training; n keys, as many as the longest string
has tokens. Keys after the query are not `visible`.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cache, partial
from itertools import accumulate, chain, count, cycle, islice
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ldhd.predict.shapes import StringShape
from ldhd.predict.views import ViewPart
from ldhd.tasks.tokens import shape_of

Marks = Literal["before", "neighbour"] | None
"""What a first layer marks a token with: the delimiters before it, or the token right before it."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNLISTED, ABSENT = -2, -1
"""Instead of an index: the answer token does not have the slot, or the slot is absent."""

SAMPLED_ROWS = 256
"""The number of training rows from which on some are looked at before all others."""

DELIMITER_CONTENT = 3 << 10
"""The content bits of a delimiter, two of them, so that it never counts as seen with one content only."""


def new_numbering() -> dict[Hashable, int]:
    """Return a dict that numbers its keys in the order in which they are first asked for."""
    return defaultdict(count().__next__)


class Queries:
    """The queries of the training strings and of the test strings.

    Training strings of the largest scale are repeated for each of the random `choices` of an embedding.
    With a `relay`, every query is the only token of that kind instead of the last token before the answer token.
    """

    def __init__(
        self, train: Sequence[StringShape], test: Sequence[StringShape], choices: int = 1, relay: str | None = None
    ):
        longest = max((shape.scale for shape in train), default=0)
        self.repeats = [(shape, choices if shape.scale == longest else 1) for shape in train]
        self.repeats += [(shape, 1) for shape in test]
        self.shapes = [shape for shape, repeats in self.repeats for _ in range(repeats)]
        self.relay = relay
        tokens = [(index, t) for index, shape in enumerate(self.shapes) for t in range(len(shape.needs))]
        self.shape_index, self.token = np.array(tokens, np.int64).T
        self.trained: Bools = self.shape_index < sum(repeats for _, repeats in self.repeats[: len(train)])
        rows = np.flatnonzero(self.trained)
        self.sample: Bools = np.zeros_like(self.trained)
        """(R,), a few training rows: what contradicts itself there does so in all of them."""
        self.sample[rows[:: 1 + len(rows) // SAMPLED_ROWS]] = True
        self.scale: Ints = np.array([shape.scale for shape in self.shapes])[self.shape_index]
        self.since: Ints = np.where(self.trained, 0, self.scale)
        """(R,), the scale from which a row counts: 0 in training."""
        self.last: Ints = np.array([shape.start for shape in self.shapes])[self.shape_index] + self.token - 1
        self.query: Ints = np.concatenate([self._query_indices(shape) for shape in self.shapes])
        self.visible: Bools = np.arange(max(len(shape.text) for shape in self.shapes)) <= self.query[:, None]
        self.content = self._by_key([_content_bits(token) for token in shape.contents] for shape in self.shapes)
        self.needs, self.types = cache(self._find_needs), cache(self._find_types)

    def shape(self, row: int) -> StringShape:
        """Return the shape that a row belongs to."""
        return self.shapes[int(self.shape_index[row])]

    def _find_needs(self, slot: str) -> Ints:
        """Return, for each row, the index of the slot's token, ABSENT or UNLISTED: shape (R,)."""
        found = [slots.get(slot, UNLISTED) for shape in self.shapes for slots in shape.needs]
        return np.array([ABSENT if index is None else index for index in found], np.int64)

    def searched(self, slot: str) -> Ints:
        """Return the needs of a slot, UNLISTED where its token is the last one read, which needs no attention."""
        needs = self.needs(slot)
        return np.where(needs == self.last, UNLISTED, needs)

    def classes(self, part: ViewPart) -> tuple[Ints, list[Hashable]]:
        """Return the numbered class of each query with each key, (R, n), 0 if it is not visible, and the classes."""
        numbering = new_numbering()
        found = np.zeros(self.visible.shape, np.int64)
        rows = iter(found)
        for shape, repeats in self.repeats:
            classes = part.classes(shape.text, self._query_indices(shape), training=repeats > 1)
            for values in chain.from_iterable(islice(cycle(classes), repeats)):
                next(rows)[: len(values)] = list(map(numbering.__getitem__, values))
        return found, list(numbering)

    def _find_types(self, marks: Marks = None) -> Ints:
        """Return the numbered type of each key: shape (R, n); see `token_types`."""
        numbering = new_numbering()
        return self._by_key([numbering[kind] for kind in token_types(shape.text, marks)] for shape in self.shapes)

    def _query_indices(self, shape: StringShape) -> list[int]:
        if self.relay is not None:
            return [shape.text.index(self.relay)] * len(shape.needs)
        return [shape.start + t - 1 for t in range(len(shape.needs))]

    def _by_key(self, numbers: Iterable[Sequence[int]]) -> Ints:
        """Return the numbers of the tokens of each string, repeated for each query of the string: shape (R, n)."""
        padded = np.zeros((len(self.shapes), self.visible.shape[1]), np.int64)
        for row, values in zip(padded, numbers, strict=True):
            row[: len(values)] = values
        return padded[self.shape_index]


class QueryTables(Protocol):
    """The queries of some strings, which do not depend on the embedding."""

    def __call__(self, choices: int, relay: str | None) -> Queries: ...


def query_tables(train: Sequence[StringShape], test: Sequence[StringShape]) -> QueryTables:
    """Return a function that builds the queries of these strings once for each of its arguments."""
    return cache(partial(Queries, train, test))


def token_types(text: str, marks: Marks) -> list[str]:
    """Return the type of each token, with its mark if there is one, as in `# after b=` or `# right after =`."""
    types = shape_of(text)
    if marks is None:
        return list(types)
    if marks == "neighbour":
        return [f"{token} right after {before}" for token, before in zip(types, "b" + types, strict=False)]
    seen = accumulate(types, lambda seen, token: "".join(sorted({*seen, token} - {"#"})), initial="")
    return [f"{token} after {before}" for token, before in zip(types, islice(seen, 1, None), strict=True)]


def _content_bits(contents: frozenset[str]) -> int:
    """Return an integer with a bit for each digit that can be here."""
    return sum(1 << int(c) for c in contents) if all(c.isdigit() for c in contents) else DELIMITER_CONTENT
