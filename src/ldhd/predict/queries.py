"""All queries of some strings as arrays: their keys, their needs, and the class and type of every key.

Letters in shapes: R rows, one for each query and each random choice of training; n keys, as many as the longest string
has tokens. Keys after the query are not `visible`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ldhd.predict.shapes import StringShape, type_of
from ldhd.predict.views import ViewPart

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNLISTED, ABSENT = -2, -1
"""Instead of an index: the answer token does not have the slot, or the slot is absent."""

DELIMITER_CONTENT = 3 << 10
"""The content bits of a delimiter, two of them, so that it never counts as seen with one content only."""


class Numbering(dict[Hashable, int]):
    """Numbers for hashable values, in the order in which they are first met."""

    def __missing__(self, value: Hashable) -> int:
        self[value] = len(self)
        return self[value]


@dataclass
class Queries:
    """The queries of some shapes, repeated for each of the random `choices` that training makes.

    With a `relay`, every query is the only token of that kind instead of the last token before the answer token.
    """

    shapes: Sequence[StringShape]
    training: bool
    choices: int
    relay: str | None = None
    _needs: dict[str, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        width = max(len(shape.text) for shape in self.shapes)
        pairs = [(index, t) for index, shape in enumerate(self.shapes) for t in range(len(shape.needs))]
        pairs = pairs * self.choices
        self.shape_index, self.token = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
        self.scale = np.array([shape.scale for shape in self.shapes])[self.shape_index]
        queries = [np.array(self._query_indices(shape)) for shape in self.shapes]
        self.query = np.tile(np.concatenate(queries), self.choices)
        self.last = np.array([shape.start for shape in self.shapes])[self.shape_index] + self.token - 1
        self.visible: Bools = np.arange(width) <= self.query[:, None]
        bits = np.zeros((len(self.shapes), width), np.int64)
        for index, shape in enumerate(self.shapes):
            bits[index, : len(shape.text)] = [_content_bits(contents) for contents in shape.contents]
        self.content: Ints = bits[self.shape_index]

    def __len__(self) -> int:
        return len(self.query)

    def shape(self, row: int) -> StringShape:
        """Return the shape that a row belongs to."""
        return self.shapes[int(self.shape_index[row])]

    def needs(self, slot: str) -> Ints:
        """Return, for each row, the index of the slot's token, ABSENT or UNLISTED: shape (R,)."""
        if slot not in self._needs:
            found = [
                ABSENT if (index := slots.get(slot, UNLISTED)) is None else index
                for shape in self.shapes
                for slots in shape.needs
            ]
            self._needs[slot] = np.tile(np.array(found, np.int64), self.choices)
        return self._needs[slot]

    def searched(self, slot: str) -> Ints:
        """Return the needs of a slot, UNLISTED where its token is the last one read, which needs no attention."""
        needs = self.needs(slot)
        return np.where(needs == self.last, UNLISTED, needs)

    def classes(self, part: ViewPart, numbering: Numbering) -> Ints:
        """Return the numbered class of each query with each key, 0 where a key is not visible: shape (R, n)."""
        blocks = [self._block(shape, part, numbering) for shape in self.shapes]
        width = self.visible.shape[1]
        padded = [np.pad(block, ((0, 0), (0, 0), (0, width - block.shape[2]))) for block in blocks]
        return np.concatenate(padded, axis=1).reshape(-1, width)

    def types(self, numbering: Numbering, marked: bool) -> tuple[Ints, Ints]:
        """Return the numbered types of the keys, shape (R, n), and of the queries, shape (R,); see `token_types`."""
        keys = np.zeros((len(self.shapes), self.visible.shape[1]), np.int64)
        for index, shape in enumerate(self.shapes):
            keys[index, : len(shape.text)] = [numbering[kind] for kind in token_types(shape.text, marked)]
        rows = keys[self.shape_index]
        return rows, rows[np.arange(len(rows)), self.query]

    def _query_indices(self, shape: StringShape) -> list[int]:
        if self.relay is not None:
            return [shape.text.index(self.relay)] * len(shape.needs)
        return [shape.start + t - 1 for t in range(len(shape.needs))]

    def _block(self, shape: StringShape, part: ViewPart, numbering: Numbering) -> Ints:
        """Return the classes of one shape: shape (choices, answer tokens, keys)."""
        queries = self._query_indices(shape)
        found = part.classes(shape.text, queries, self.training)
        block = np.zeros((len(found), len(queries), len(shape.text)), np.int64)
        for choice, rows in enumerate(found):
            for t, row in enumerate(rows):
                block[choice, t, : len(row)] = [numbering[value] for value in row]
        return np.broadcast_to(block, (self.choices, *block.shape[1:]))


def token_types(text: str, marked: bool) -> list[Hashable]:
    """Return the type of each token; if `marked`, with the delimiters up to it, as in ('#', 'b=')."""
    plain = [type_of(token) for token in text]
    if not marked:
        return list(plain)
    seen: dict[str, None] = {}
    found: list[Hashable] = []
    for token in plain:
        if token != "#":
            seen[token] = None
        found.append((token, "".join(sorted(seen))))
    return found


def _content_bits(contents: frozenset[str]) -> int:
    """Return an integer with a bit for each digit that can be here."""
    return sum(1 << int(c) for c in contents) if all(c.isdigit() for c in contents) else DELIMITER_CONTENT
