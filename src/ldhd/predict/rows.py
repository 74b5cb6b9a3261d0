"""Queries as rows of arrays: what each sees, what it needs, and the class and type of every key.

A row is one answer token of one case, with one of the random choices that training makes. Letters: R rows, n keys
(as many as the longest string has; those that a row does not see are not `visible`).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ldhd.predict.cases import Case, type_of
from ldhd.predict.views import Part

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNLISTED, ABSENT = -2, -1
"""Instead of an index: the answer token does not have the slot, or has it and it is absent."""

FIXED = 3 << 10
"""Bits of the content of a delimiter: nothing about it could differ."""


@dataclass
class Vocabulary:
    """Hashable things numbered as they come."""

    numbers: dict[Hashable, int] = field(default_factory=dict)

    def number(self, thing: Hashable) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass
class Rows:
    """The rows of some cases. With `hop`, the query is the only token of that kind instead of the last token read."""

    cases: Sequence[Case]
    training: bool
    choices: int
    hop: str | None = None
    _needs: dict[str, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        width = max(len(case.text) for case in self.cases)
        pairs = [(index, t) for index, case in enumerate(self.cases) for t in range(len(case.needs))]
        pairs = pairs * self.choices
        self.case, self.token = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
        self.scale = np.array([case.scale for case in self.cases])[self.case]
        queries = [np.array([self._query(case, t) for t in range(len(case.needs))]) for case in self.cases]
        self.query = np.tile(np.concatenate(queries), self.choices)
        self.last = np.array([case.start for case in self.cases])[self.case] + self.token - 1
        self.visible: Bools = np.arange(width) <= self.query[:, None]
        bits = np.zeros((len(self.cases), width), np.int64)
        for index, case in enumerate(self.cases):
            bits[index, : len(case.text)] = [_bits(content) for content in case.contents]
        self.content: Ints = bits[self.case]

    def _query(self, case: Case, t: int) -> int:
        return case.start + t - 1 if self.hop is None else case.text.index(self.hop)

    def needs(self, slot: str) -> Ints:
        """For each row the index the slot is at, ABSENT or UNLISTED."""
        if slot not in self._needs:
            listed = [
                ABSENT if (index := slots.get(slot, UNLISTED)) is None else index
                for case in self.cases
                for slots in case.needs
            ]
            self._needs[slot] = np.tile(np.array(listed, np.int64), self.choices)
        return self._needs[slot]

    def looked_for(self, slot: str) -> Ints:
        """The same, UNLISTED also where the slot is the last token read: the query knows its own token."""
        needs = self.needs(slot)
        return np.where(needs == self.last, UNLISTED, needs)

    def classes(self, part: Part, vocabulary: Vocabulary) -> Ints:
        """(R, n): the class of query and key, numbered; 0 where a key is not visible."""
        blocks = [self._block(case, part, vocabulary) for case in self.cases]
        width = self.visible.shape[1]
        padded = [np.pad(block, ((0, 0), (0, 0), (0, width - block.shape[2]))) for block in blocks]
        return np.concatenate(padded, axis=1).reshape(-1, width)

    def _block(self, case: Case, part: Part, vocabulary: Vocabulary) -> Ints:
        """(choices, answer tokens, keys) of one case."""
        queries = [self._query(case, t) for t in range(len(case.needs))]
        found = part.classes(case.text, queries, self.training)
        block = np.zeros((len(found), len(queries), len(case.text)), np.int64)
        for choice, rows in enumerate(found):
            for t, row in enumerate(rows):
                block[choice, t, : len(row)] = [vocabulary.number(c) for c in row]
        return np.broadcast_to(block, (self.choices, *block.shape[1:]))

    def types(self, vocabulary: Vocabulary, marked: bool) -> tuple[Ints, Ints]:
        """The types of the keys, (R, n), and of the queries, (R,); `marked` ones know which delimiters came before."""
        width = self.visible.shape[1]
        keys = np.zeros((len(self.cases), width), np.int64)
        for index, case in enumerate(self.cases):
            keys[index, : len(case.text)] = [vocabulary.number(t) for t in token_types(case.text, marked)]
        rows = keys[self.case]
        return rows, rows[np.arange(len(rows)), self.query]


def token_types(text: str, marked: bool) -> list[Hashable]:
    """`#` for a digit, the token itself else; marked: with the delimiters read so far, as in ('#', 'b=')."""
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


def _bits(contents: frozenset[str]) -> int:
    """A bit for each digit that can stand here."""
    return sum(1 << int(c) for c in contents) if all(c.isdigit() for c in contents) else FIXED
