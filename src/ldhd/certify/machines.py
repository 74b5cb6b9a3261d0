"""The tasks as finite machines that read the places of all numbers of a string side by side.

Place p of every number, counted from its delimiter, is one column. A machine goes from the first column to the last,
and what it writes in a column, the answer token of that place, depends on the column and on a bounded memory: a carry,
a remainder, a parity. That is why finitely many local views can occur although strings have any length.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

State = Hashable
Lengths = tuple[int, ...]
"""The number of digits of each growing number."""

DIGITS = range(10)
END = "e"


@dataclass(frozen=True)
class Column:
    """A place, without its digits: whether it is the first, which growing numbers have it, and which end with it."""

    first: bool
    present: tuple[bool, ...]
    last: tuple[bool, ...]


@dataclass(frozen=True)
class Step:
    """One way to go on: the digits of the growing numbers (None where absent), the answer token, the next state."""

    digits: tuple[int | None, ...]
    answer: str
    state: State


class Machine(ABC):
    """All strings of a task, place by place."""

    layout: ClassVar[str]
    """The string with a letter for each number, such as `bx+y=z`; the last is the answer."""
    growing: ClassVar[str]
    """The letters of the prompt's numbers that grow; every other number of the prompt has one digit."""
    base: ClassVar[int] = 10
    """The number of digits that occur."""

    @abstractmethod
    def starts(self) -> Iterator[tuple[State, dict[str, int]]]:
        """Yield each state before the first column, with the digits of the numbers that do not grow."""

    @abstractmethod
    def steps(self, state: State, column: Column) -> Iterator[Step]:
        """Yield every way to pass a column."""

    @abstractmethod
    def answer_length(self, lengths: Lengths) -> int:
        """Return the largest number of answer tokens, `e` included."""

    def alphabet(self) -> str:
        """Return the tokens that occur in its strings before their `e`."""
        delimiters = [token for k, token in enumerate(self.layout) if not (k and token.isalpha())]
        return "".join(delimiters) + "0123456789"[: self.base]

    def shapes(self, marks: int) -> Iterator[Lengths]:
        """Yield lengths up to which every arrangement of the ends and of an answer token occurs, `marks` apart."""
        for n in range(1, 3 * marks + 1):
            yield (n,) * len(self.growing)


class CopyMachine(Machine):
    """The answer token is the digit of the column."""

    layout, growing = "bx=z", "x"

    def starts(self) -> Iterator[tuple[State, dict[str, int]]]:
        yield 0, {}

    def steps(self, state: State, column: Column) -> Iterator[Step]:
        if not column.present[0]:
            yield Step((None,), END, state)
            return
        for digit in range(self.base):
            answer = self.answer(state, digit)
            yield Step((digit,), str(answer), self.following(answer))

    def answer(self, state: State, digit: int) -> int:
        return digit

    def following(self, answer: int) -> State:
        return 0

    def answer_length(self, lengths: Lengths) -> int:
        return lengths[0] + 1


class ParityMachine(CopyMachine):
    """The memory is the parity so far."""

    base = 2

    def answer(self, state: State, digit: int) -> int:
        assert isinstance(state, int)
        return state ^ digit

    def following(self, answer: int) -> State:
        return answer


class AdditionMachine(Machine):
    """The memory is the carry; a number of several digits does not end with 0."""

    layout, growing = "bx+y=z", "xy"

    def starts(self) -> Iterator[tuple[State, dict[str, int]]]:
        yield 0, {}

    def steps(self, state: State, column: Column) -> Iterator[Step]:
        assert isinstance(state, int)
        for digits in product(*(_digits(column, number) for number in range(2))):
            carry, digit = divmod(sum(d for d in digits if d is not None) + state, 10)
            nothing_left = digits == (None, None) and digit == 0
            yield Step(digits, END if nothing_left else str(digit), carry)

    def answer_length(self, lengths: Lengths) -> int:
        return max(lengths) + 2

    def shapes(self, marks: int) -> Iterator[Lengths]:
        for short in range(1, 2 * marks + 1):
            for long in range(short, 4 * marks + 1):
                yield from {(short, long), (long, short)}


class Mod10Machine(Machine):
    """The answer is the sum of the first digits modulo 10, then `e`."""

    layout, growing = "bx+y=z", "xy"

    def starts(self) -> Iterator[tuple[State, dict[str, int]]]:
        yield 0, {}

    def steps(self, state: State, column: Column) -> Iterator[Step]:
        for digits in product(*(_digits(column, number) for number in range(2))):
            total = sum(d for d in digits if d is not None)
            yield Step(digits, str(total % 10) if column.first else END, 0)

    def answer_length(self, lengths: Lengths) -> int:
        return 2


class MultiplicationMachine(Machine):
    """The memory is the one-digit factor and the carry."""

    layout, growing = "bx*y=z", "y"

    def starts(self) -> Iterator[tuple[State, dict[str, int]]]:
        for factor in range(1, 10):
            yield (factor, 0), {"x": factor}

    def steps(self, state: State, column: Column) -> Iterator[Step]:
        assert isinstance(state, tuple)
        factor, memory = state
        if memory is None:
            if not column.present[0]:
                yield Step((None,), END, state)
        elif not column.present[0]:
            yield Step((None,), str(memory), (factor, None))
        else:
            for digit in _digits(column, 0):
                carry, answer = divmod(factor * digit + memory, 10)
                yield Step((digit,), str(answer), (factor, carry))

    def answer_length(self, lengths: Lengths) -> int:
        return lengths[0] + 2


class DivisionMachine(Machine):
    """The memory is the divisor and the remainder; the most significant digit comes first."""

    layout, growing = "bx\\y=z", "y"

    def starts(self) -> Iterator[tuple[State, dict[str, int]]]:
        for divisor in range(1, 10):
            yield (divisor, 0), {"x": divisor}

    def steps(self, state: State, column: Column) -> Iterator[Step]:
        assert isinstance(state, tuple)
        divisor, remainder = state
        if not column.present[0]:
            yield Step((None,), END, state)
            return
        for digit in DIGITS:
            if column.first and digit == 0 and not column.last[0]:
                continue  # no leading zero
            answer, rest = divmod(10 * remainder + digit, divisor)
            yield Step((digit,), str(answer), (divisor, rest))

    def answer_length(self, lengths: Lengths) -> int:
        return lengths[0] + 1


def _digits(column: Column, number: int) -> list[int | None]:
    """Return the digits that a number, least significant digit first, can have in a column."""
    if not column.present[number]:
        return [None]
    return [digit for digit in DIGITS if digit or column.first or not column.last[number]]


MACHINES: dict[str, Machine] = {
    "copy": CopyMachine(),
    "addition": AdditionMachine(),
    "parity": ParityMachine(),
    "multiplication": MultiplicationMachine(),
    "division": DivisionMachine(),
    "addition-mod10": Mod10Machine(),
}
"""The tasks whose answers need a bounded memory at any length."""


def answer_of(machine: Machine, prompt: str) -> str:
    """Return the answer that the machine writes to a prompt; ValueError if it reads no such prompt."""
    numbers = numbers_of(machine, prompt)
    lengths = tuple(len(numbers[letter]) for letter in machine.growing)
    starts = [
        start
        for start, constants in machine.starts()
        if all(numbers[letter] == str(value) for letter, value in constants.items())
    ]
    if not starts:
        raise ValueError(f"{prompt!r} is no prompt of {type(machine).__name__}")
    state = starts[0]
    answer = ""
    for place in range(max(machine.answer_length(lengths), *lengths)):
        digits = tuple(
            int(numbers[g][place]) if place < n else None for g, n in zip(machine.growing, lengths, strict=True)
        )
        step = next((s for s in machine.steps(state, column_at(place, lengths)) if s.digits == digits), None)
        if step is None:
            raise ValueError(f"{prompt!r} is no prompt of {type(machine).__name__}: place {place} cannot be {digits}")
        state = step.state
        answer += "" if answer.endswith(END) else step.answer
    return answer


def numbers_of(machine: Machine, prompt: str) -> dict[str, str]:
    """Return the numbers of a prompt by their letters."""
    found, text = {}, prompt
    for letter, delimiter in zip(machine.layout[1:-1:2], machine.layout[2:-1:2], strict=True):
        found[letter], _, text = text.removeprefix("b").partition(delimiter)
    return found


def column_at(place: int, lengths: Lengths) -> Column:
    """Return the column at a place of numbers of these lengths."""
    return Column(place == 0, tuple(place < n for n in lengths), tuple(place == n - 1 for n in lengths))
