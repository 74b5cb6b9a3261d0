"""Numbers of any length as tuples of digits, least significant digit first: sampling, parsing and arithmetic."""

from collections.abc import Sequence
from itertools import zip_longest

import torch

Digits = tuple[int, ...]


def uniform(length: int, base: int, generator: torch.Generator) -> Digits:
    """Draw `length` symbols, each uniform on 0 .. base - 1."""
    return tuple(torch.randint(base, (length,), generator=generator).tolist())


def number(length: int, generator: torch.Generator, base: int = 10) -> Digits:
    """Draw a number of exactly `length` digits: no leading zero, except that a single digit may be 0."""
    digits = uniform(length, base, generator)
    return digits if length == 1 else (*digits[:-1], int(torch.randint(1, base, (), generator=generator)))


def one_to_nine(generator: torch.Generator) -> int:
    """Draw a digit from 1 to 9."""
    return int(torch.randint(1, 10, (), generator=generator))


def write(digits: Digits) -> str:
    """Write the digits in their order, without separators."""
    return "".join(map(str, digits))


def read(text: str, what: str, base: int = 10) -> Digits:
    """Return the digits of `text`; a ValueError names `what` if there is none, or another character."""
    if not text or any(character not in "0123456789"[:base] for character in text):
        raise ValueError(f"{what} must be one or more digits below {base}, got {text!r}")
    return tuple(map(int, text))


def read_number(text: str, what: str) -> Digits:
    """Return the digits of a number, least significant first; a leading zero is refused but for 0 itself."""
    number = read(text, what)
    if number != strip(number):
        raise ValueError(f"{what} has a leading zero: {text!r}, least significant digit first")
    return number


def inside(prompt: str, example: str) -> str:
    """Return the text between `b` and `=`; a ValueError shows `example` if the prompt does not begin and end so."""
    if len(prompt) < 2 or not prompt.startswith("b") or not prompt.endswith("="):
        raise ValueError(f"a prompt of this task looks like '{example}', got {prompt!r}")
    return prompt[1:-1]


def operands(prompt: str, separator: str, example: str) -> tuple[str, str]:
    """Return the two texts on either side of the only `separator` of a prompt."""
    text = inside(prompt, example)
    parts = text.split(separator)
    if len(parts) != 2:
        raise ValueError(f"a prompt of this task looks like '{example}', got {text!r} between 'b' and '='")
    return parts[0], parts[1]


def index_of(place: int, start: int, length: int) -> int | None:
    """Return the index in the text of a place of a number that begins at `start`; None if it has no such place."""
    return start + place if 0 <= place < length else None


def add(x: Digits, y: Digits, base: int = 10) -> Digits:
    """Return x + y without leading zeros."""
    return strip(carried(place_sums(x, y), base))


def place_sums(x: Digits, y: Digits) -> list[int]:
    """Return the sums of the digits at each place, before any carry."""
    return [a + b for a, b in zip_longest(x, y, fillvalue=0)]


def carried(places: Sequence[int], base: int = 10) -> Digits:
    """Return the digits of a number whose places hold these values before any carry; the last digit is a carry."""
    result, carry = [], 0
    for value in places:
        carry, digit = divmod(carry + value, base)
        result.append(digit)
    return (*result, carry)


def carry_lengths(sums: Sequence[int]) -> list[int]:
    """Return, for each place and the one after the last, over how many places the carry into it has travelled.

    `sums` are the sums of the digits at each place, before any carry. The length of a carry is the number of preceding
    places one has to know to know the carry; it is 0 where there is no carry.
    """
    carries = [0]
    for value in sums:
        carries.append((value + carries[-1]) // 10)
    lengths = []
    for place, needed in enumerate(carries):
        length = 0
        while needed > 0:  # the smallest carry into the place before that explains this one
            length += 1
            needed = max(0, 10 * needed - sums[place - length])
        lengths.append(length)
    return lengths


def strip(digits: Digits) -> Digits:
    """Remove leading zeros; zero keeps one digit."""
    while len(digits) > 1 and digits[-1] == 0:
        digits = digits[:-1]
    return digits


def pad(digits: Digits, width: int) -> Digits:
    """Add leading zeros up to `width` digits."""
    return digits + (0,) * (width - len(digits))
