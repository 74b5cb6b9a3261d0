"""All contexts of a form: what its slots can hold together, and which answer token is then right.

A context is one 64-bit number: the state of the machine in the lowest bits, then the right token, then four bits for
each slot. A machine passes the columns of a form with all contexts at once.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.certify.heads import RefusedError
from ldhd.certify.machines import Machine, State
from ldhd.certify.shapes import AFTER, AT, Form, Stretch, reachable_states
from ldhd.tasks.tokens import CHARACTERS

Contexts = NDArray[np.int64]

STATE_BITS, TOKEN_BITS = 10, 4
MOST_SLOTS = (63 - STATE_BITS - TOKEN_BITS) // TOKEN_BITS
LARGEST = 6_000_000
"""The number of contexts of one view beyond which its digits are not enumerated any further."""

_STATE = (1 << STATE_BITS) - 1


class Enumeration:
    """The contexts of the forms of a machine."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.number = reachable_states(machine)
        self.states = list(self.number)
        self.start = [(self.number[state], constants) for state, constants in machine.starts()]
        self.tables: dict[object, list[Contexts]] = {}

    def contexts(self, form: Form) -> Contexts:
        """Return the contexts of a form, sorted."""
        found = np.array(
            [
                state | sum(shifted(constants[letter], slot) for letter, slot in form.constants)
                for state, constants in self.start
            ],
            np.int64,
        )
        for stretch in form.stretches:
            table = self._table(stretch)
            for _ in range(stretch.count):
                found = _passed(found, table)
        return np.unique(found & ~_STATE)

    def _table(self, stretch: Stretch) -> list[Contexts]:
        """Return, for each state, what the ways through a column add to a context, the next state among it."""
        key = stretch.column, stretch.phase, stretch.slots
        if key not in self.tables:
            self.tables[key] = [self._additions(state, stretch) for state in self.states]
        return self.tables[key]

    def _additions(self, state: State, stretch: Stretch) -> Contexts:
        found = set()
        own = self.machine.growing
        for step in self.machine.steps(state, stretch.column):
            if stretch.phase not in (AT, AFTER) and step.answer == "e":
                continue  # the answer has ended before this token
            value = self.number[step.state]
            tokens = {letter: d for letter, d in zip(own, step.digits, strict=True) if d is not None}
            if stretch.phase == AT:
                value |= CHARACTERS.index(step.answer) << STATE_BITS
            elif stretch.phase != AFTER:
                tokens[self.machine.layout[-1]] = int(step.answer)
            for letter, slot in stretch.slots:
                value |= shifted(tokens[letter], slot)
            found.add(value)
        return np.array(sorted(found), np.int64)


def shifted(digit: int, slot: int) -> int:
    """Return a digit where a context holds that of a slot."""
    return digit << (STATE_BITS + TOKEN_BITS * (slot + 1))


def right_tokens(contexts: Any) -> Any:
    """Return the token id that is right in each context."""
    return (contexts >> STATE_BITS) & 15


def digits_at(contexts: Any, slot: int) -> Any:
    """Return the digit in a slot."""
    return (contexts >> (STATE_BITS + TOKEN_BITS * (slot + 1))) & 15


def _passed(contexts: Contexts, table: list[Contexts]) -> Contexts:
    states = contexts & _STATE
    order = np.argsort(states, kind="stable")
    bounds = np.searchsorted(states[order], np.arange(len(table) + 1))
    parts = []
    for state, additions in enumerate(table):
        own = contexts[order[bounds[state] : bounds[state + 1]]] & ~_STATE
        if len(own) * len(additions) > LARGEST:
            raise RefusedError(f"the heads tell apart more than {LARGEST} contexts in one arrangement of the lengths")
        if len(own) and len(additions):
            parts.append((own[:, None] | additions).ravel())
    return np.unique(np.concatenate(parts)) if parts else contexts[:0]


def with_slots(contexts: Contexts, slots: int) -> Contexts:
    """Return contexts of which only the first slots are left."""
    kept: Contexts = contexts & ((1 << (STATE_BITS + TOKEN_BITS * (slots + 1))) - 1)
    return kept


def union(parts: Iterable[Contexts]) -> Contexts:
    """Return the contexts of several forms with one view, each once."""
    return np.unique(np.concatenate(list(parts)))
