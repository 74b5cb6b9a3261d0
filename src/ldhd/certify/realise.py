"""From a context back to the prompt of a string that has it."""

from collections.abc import Mapping

from ldhd.certify.contexts import digits_at, right_tokens
from ldhd.certify.machines import END, Machine, State, Step, column_at
from ldhd.certify.shapes import Place, Shape
from ldhd.tasks.tokens import CHARACTERS


def prompt_of(machine: Machine, shape: Shape, slots: Mapping[Place, int], context: int) -> str | None:
    """Return a prompt of a shape in whose slots the digits of a context stand; None if there is none."""
    wanted = {place: int(digits_at(context, slot)) for place, slot in slots.items()}
    right = CHARACTERS[int(right_tokens(context))]
    for start, constants in machine.starts():
        if any(wanted.get((letter, 0), value) != value for letter, value in constants.items()):
            continue
        paths: dict[State, tuple[str, ...]] = {start: ("",) * len(shape.lengths)}
        for place in range(max(*shape.lengths, shape.token + 1)):
            column = column_at(place, shape.lengths)
            paths = {
                step.state: tuple(text + _written(d) for text, d in zip(texts, step.digits, strict=True))
                for state, texts in paths.items()
                for step in machine.steps(state, column)
                if _fits(machine, step, place, shape.token, right, wanted)
            }
        for texts in paths.values():
            numbers = dict(zip(machine.growing, texts, strict=True)) | {k: str(v) for k, v in constants.items()}
            return "b" + "".join(numbers.get(letter, letter) for letter in machine.layout[1:-1])
    return None


def _written(digit: int | None) -> str:
    return "" if digit is None else str(digit)


def _fits(machine: Machine, step: Step, place: int, token: int, right: str, wanted: Mapping[Place, int]) -> bool:
    if any(wanted.get((letter, place), d) != d for letter, d in zip(machine.growing, step.digits, strict=True)):
        return False
    if place < token:
        return step.answer != END and int(step.answer) == wanted.get((machine.layout[-1], place), int(step.answer))
    return place > token or step.answer == right
