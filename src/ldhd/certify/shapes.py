"""Which keys are visible to the heads while an answer token is written, for every arrangement of the lengths.

A shape is the lengths of the growing numbers and the index t of the answer token. Its view says which keys each head
sees. Its form says what a machine meets column by column, with long runs of equal columns that nobody sees cut short.
Shapes with the same view and the same form have the same contexts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

from ldhd.certify.heads import Head
from ldhd.certify.machines import Column, Lengths, Machine, State, column_at

BEFORE, AT, AFTER = "before", "at", "after"

Place = tuple[str, int]
"""A digit of the string: the letter of its number, and its place there."""
Source = str | int
"""A visible token: a delimiter itself, or the index of the slot that holds a digit."""


@dataclass(frozen=True)
class View:
    """The visible keys of each head, as classes and sources, and the source of the query."""

    query: Source
    keys: tuple[tuple[tuple[int, Source], ...], ...]
    slots: int


@dataclass(frozen=True)
class Stretch:
    """So many equal columns: what they hold, whether they lie before the answer token, and the slots they fill."""

    column: Column
    phase: str
    slots: tuple[tuple[str, int], ...]
    count: int


@dataclass(frozen=True)
class Form:
    """The stretches of columns of a shape, and the slots of the numbers that do not grow."""

    constants: tuple[tuple[str, int], ...]
    stretches: tuple[Stretch, ...]

    def renumbered(self, numbers: Mapping[int, int]) -> "Form":
        """Return the form with other numbers for its slots, in which slots without a number are not filled."""
        return Form(
            _renumbered(self.constants, numbers),
            tuple(replace(stretch, slots=_renumbered(stretch.slots, numbers)) for stretch in self.stretches),
        )

    def slots(self, letters: str = "") -> set[int]:
        """Return the slots that are filled with digits of numbers that do not grow, or that these letters name."""
        return {slot for _, slot in self.constants} | {
            slot for stretch in self.stretches for letter, slot in stretch.slots if letter in letters
        }


def _renumbered(slots: tuple[tuple[str, int], ...], numbers: Mapping[int, int]) -> tuple[tuple[str, int], ...]:
    return tuple((letter, numbers[slot]) for letter, slot in slots if slot in numbers)


@dataclass(frozen=True)
class Shape:
    """The lengths of the growing numbers, and which answer token is written."""

    lengths: Lengths
    token: int


def all_shapes(machine: Machine, marks: int) -> Iterator[Shape]:
    """Yield shapes up to which every form occurs, the short ones first."""
    for lengths in sorted(machine.shapes(marks), key=sum):
        yield from (Shape(lengths, token) for token in range(machine.answer_length(lengths)))


def look(machine: Machine, shape: Shape, heads: Sequence[Head]) -> tuple[View, dict[Place, int]]:
    """Return the view of a shape, and the slots of the digits that it shows."""
    text = _text(machine, shape)
    starts = [k for k, token in enumerate(text) if isinstance(token, str)]
    slots: dict[Place, int] = {}

    def source(index: int) -> Source:
        token = text[index]
        return token if isinstance(token, str) else slots.setdefault(token, len(slots))

    query = source(len(text) - 1)
    keys = []
    for head in heads:
        found = [(m, source(index)) for m, index in _visible(head, text, starts)]
        keys.append(tuple(found))
    return View(query, tuple(keys), len(slots)), slots


def _visible(head: Head, text: Sequence[str | Place], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield class and index of each key that a head shows to the last token."""
    anchors = [0] if head.from_start else [k for k in starts if k == 0 or text[k] in head.anchors]
    ends = [*anchors[1:], len(text)]
    own = 0 if head.absolute else len(text) - 1 - anchors[-1]
    for anchor, end in zip(anchors, ends, strict=True):
        for m in range(-head.window, head.window + 1):
            place = own - m
            if place >= 1 and anchor + place < end:
                yield m, anchor + place


def _text(machine: Machine, shape: Shape) -> list[str | Place]:
    lengths = dict(zip(machine.growing, shape.lengths, strict=True))
    lengths[machine.layout[-1]] = shape.token
    text: list[str | Place] = []
    for index, letter in enumerate(machine.layout):
        if index and letter.isalpha():
            text += [(letter, place) for place in range(lengths.get(letter, 1))]
        else:
            text.append(letter)
    return text


def form_of(machine: Machine, shape: Shape, slots: dict[Place, int], longest_run: int) -> Form:
    """Return what a machine meets from the first column to the last, with unseen runs cut to `longest_run`."""
    seen: dict[int, list[tuple[str, int]]] = {}
    constants = []
    tracks = (*machine.growing, machine.layout[-1])
    for (letter, place), slot in slots.items():
        if letter in tracks:
            seen.setdefault(place, []).append((letter, slot))
        else:
            constants.append((letter, slot))
    places = range(max(*shape.lengths, shape.token + 1))
    columns = [
        (
            _column(place, shape.lengths),
            AT if place == shape.token else BEFORE if place < shape.token else AFTER,
            tuple(sorted(seen.get(place, ()))),
        )
        for place in places
    ]
    stretches = []
    for (column, phase, own), run in groupby(columns):
        count = len(list(run))
        stretches.append(Stretch(column, phase, own, count if own else min(count, longest_run)))
    return Form(tuple(sorted(constants)), tuple(stretches))


@cache
def _column(place: int, lengths: Lengths) -> Column:
    return column_at(place, lengths)


def longest_run(machine: Machine) -> int:
    """Return after how many equal columns it no longer matters how many there are.

    R[s, s'] says whether a column can lead from state s to state s'. If R^(g+1) = R^g, all higher powers are the same.
    """
    needed = 1
    numbers = len(machine.growing)
    nothing = (False,) * numbers
    for bits in range(1, 2**numbers):
        present = tuple(bool(bits >> k & 1) for k in range(numbers))
        column = Column(False, present, nothing)
        for ended in (False, True):
            needed = max(needed, _settled(machine, column, ended))
    return needed


def _settled(machine: Machine, column: Column, after: bool) -> int:
    states = list(reachable_states(machine))
    steps = {
        state: frozenset(step.state for step in machine.steps(state, column) if after or not step.answer.endswith("e"))
        for state in states
    }
    reached = {state: frozenset([state]) for state in states}
    for power in range(4 * len(states) + 4):
        following = {state: frozenset(t for s in reached[state] for t in steps[s]) for state in states}
        if following == reached:
            return power
        reached = following
    raise ValueError(f"the states of {type(machine).__name__} do not settle in equal columns")


def reachable_states(machine: Machine) -> dict[State, int]:
    """Number the states that columns of any kind lead to."""
    numbers = len(machine.growing)
    kinds = [
        Column(first, tuple(bool(p >> k & 1) for k in range(numbers)), tuple(bool(e >> k & 1) for k in range(numbers)))
        for first in (True, False)
        for p in range(2**numbers)
        for e in range(2**numbers)
        if not e & ~p
    ]
    found = {state: index for index, (state, _) in enumerate(machine.starts())}
    todo = list(found)
    while todo:
        state = todo.pop()
        for column in kinds:
            for step in machine.steps(state, column):
                if step.state not in found:
                    found[step.state] = len(found)
                    todo.append(step.state)
    return found
