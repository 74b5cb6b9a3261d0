"""Numbers as tuples of digits, least significant first: sampling, parsing and arithmetic at any length."""

from collections.abc import Sequence

import torch

Digits = tuple[int, ...]


def uniform(length: int, base: int, generator: torch.Generator) -> Digits:
    """`length` symbols, each uniform on 0 .. base - 1."""
    return tuple(torch.randint(base, (length,), generator=generator).tolist())


def number(length: int, generator: torch.Generator) -> Digits:
    """A uniform number of exactly `length` digits: no leading zero, except that one digit may be 0."""
    digits = uniform(length, 10, generator)
    return digits if length == 1 else (*digits[:-1], one_to_nine(generator))


def one_to_nine(generator: torch.Generator) -> int:
    return int(torch.randint(1, 10, (), generator=generator))


def write(digits: Digits) -> str:
    return "".join(map(str, digits))


def read(text: str, what: str, base: int = 10) -> Digits:
    """The digits of `text`; ValueError naming `what` if it has none or another character."""
    if not text or any(character not in "0123456789"[:base] for character in text):
        raise ValueError(f"{what} must be one or more digits below {base}, got {text!r}")
    return tuple(map(int, text))


def read_number(text: str, what: str) -> Digits:
    """The digits of a number, least significant first; a leading zero is refused unless it is the only digit."""
    number = read(text, what)
    if number != strip(number):
        raise ValueError(f"{what} has a leading zero: {text!r}, least significant digit first")
    return number


def between(text: str, start: str, end: str, shape: str) -> str:
    """The part of `text` between its first and last character; ValueError unless these are `start` and `end`."""
    if len(text) < 2 or not text.startswith(start) or not text.endswith(end):
        raise ValueError(f"a prompt of this task looks like {shape}, got {text!r}")
    return text[1:-1]


def split(text: str, separator: str, shape: str) -> tuple[str, str]:
    """The two parts of `text` around its only `separator`."""
    parts = text.split(separator)
    if len(parts) != 2:
        raise ValueError(f"a prompt of this task looks like {shape}, got {text!r} between 'b' and '='")
    return parts[0], parts[1]


def add(x: Digits, y: Digits) -> Digits:
    """x + y without leading zeros."""
    total, carry = [], 0
    for position in range(max(len(x), len(y))):
        carry += (x[position] if position < len(x) else 0) + (y[position] if position < len(y) else 0)
        total.append(carry % 10)
        carry //= 10
    return strip((*total, carry))


def carry_lengths(sums: Sequence[int]) -> list[int]:
    """For each place and the one after the last, over how many places the carry into it has travelled; 0 without one.

    `sums` are what the places add up to by themselves. The length is how many places before it one must know to know
    the carry.
    """
    carries = [0]
    for value in sums:
        carries.append((value + carries[-1]) // 10)
    lengths = []
    for place, needed in enumerate(carries):
        length = 0
        while needed > 0:  # the least carry that must come into the place before to make this one
            length += 1
            needed = max(0, 10 * needed - sums[place - length])
        lengths.append(length)
    return lengths


def strip(digits: Digits) -> Digits:
    """Without leading zeros; zero keeps one digit."""
    length = len(digits)
    while length > 1 and digits[length - 1] == 0:
        length -= 1
    return digits[:length]


def pad(digits: Digits, width: int) -> Digits:
    """With leading zeros up to `width` digits."""
    return digits + (0,) * (width - len(digits))
