"""Finite automata over the symbols 0, 1, ..."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from ldhd.tasks.digits import Digits

MOST_REMEMBERED = 5
"""The largest number of first or last symbols that are tried to tell the state."""


@dataclass(frozen=True)
class Automaton:
    """The minimal automaton of a language.

    The state from which no word of the language can be reached may be left out. Words are then those alone that can be
    continued to a word of the language.
    """

    transitions: tuple[tuple[int | None, ...], ...]
    """For each state the next one by symbol, None for the state that is left out. State 0 is the first."""
    accepting: frozenset[int]

    @property
    def symbols(self) -> range:
        return range(len(self.transitions[0]))

    @property
    def states(self) -> range:
        return range(len(self.transitions))

    def state(self, word: Digits, start: int = 0) -> int | None:
        """Return the state after a word, None for the one that is left out."""
        found: int | None = start
        for symbol in word:
            if found is None:
                return None
            found = self.transitions[found][symbol]
        return found

    @cached_property
    def edges(self) -> tuple[tuple[int, int, int], ...]:
        """Every (state, symbol, next state)."""
        rows = enumerate(self.transitions)
        return tuple((p, symbol, q) for p, row in rows for symbol, q in enumerate(row) if q is not None)

    def reached(self, length: int) -> set[int]:
        """Return the states after the words of a length."""
        found = {0}
        for _ in range(length):
            found = {q for p, _, q in self.edges if p in found}
        return found

    @cached_property
    def last_symbols(self) -> int | None:
        """How many of the last symbols tell the state of every word, None if not even `MOST_REMEMBERED` do."""
        return next((k for k in range(1, MOST_REMEMBERED + 1) if self._told_by_last(k)), None)

    @cached_property
    def first_symbols(self) -> int | None:
        """How many of the first symbols tell the state of every word, None if not even `MOST_REMEMBERED` do."""
        stays = {p for p in self.states if all(q == p for start, _, q in self.edges if start == p)}
        return next((k for k in range(1, MOST_REMEMBERED + 1) if self.reached(k) <= stays), None)

    @cached_property
    def permutes(self) -> bool:
        """Whether each symbol permutes the states, so that every symbol of a word counts whatever the others are."""
        columns = zip(*self.transitions, strict=True)
        return all(None not in column and len(set(column)) == len(column) for column in columns)

    def _told_by_last(self, k: int) -> bool:
        return all(len(self._states_after(word)) <= 1 for word in product(self.symbols, repeat=k))

    def _states_after(self, word: Digits) -> set[int]:
        found = (self.state(word, start) for start in self.states)
        return {state for state in found if state is not None}

    def paths(self, length: int) -> Iterator[Digits]:
        """Yield words of a length that show at each place every symbol that can stand there, and every last state."""
        shortest: dict[tuple[int, int], Digits] = {(0, 0): ()}
        for t in range(length):
            for p, symbol, q in self.edges:
                if (t, p) in shortest:
                    shortest.setdefault((t + 1, q), (*shortest[t, p], symbol))
        for t in range(length):
            shown: set[int] = set()
            for p, symbol, q in self.edges:
                if (t, p) in shortest and symbol not in shown:
                    shown.add(symbol)
                    yield self._continued((*shortest[t, p], symbol), q, length)
        yield from (shortest[length, q] for q in self.states if (length, q) in shortest)

    def _continued(self, word: Digits, state: int, length: int) -> Digits:
        while len(word) < length:
            symbol, state = next((symbol, q) for p, symbol, q in self.edges if p == state)
            word = (*word, symbol)
        return word
