"""Addition as latent variable, concept and format (Abstraction 1, Examples 1 and 2), on lists of digits.

The latent variable of scale n is [(x_0, y_0), .., (x_{n-1}, y_{n-1})], least significant digits first; it lies in the
space of scale N with pairs (0, 0) after it. The concept is the sum. Two formats write it as a string:

    aligned (ARF)     12 + 7, width 3   ->  "210+700="
    unaligned (URF)   12 + 7            ->  "21+7="
"""

from collections.abc import Sequence

Pair = tuple[int, int]


def digits(number: int) -> list[int]:
    """The decimal digits, least significant first; 0 has the one digit 0."""
    return [int(digit) for digit in reversed(str(number))]


def number_of(reversed_digits: Sequence[int]) -> int:
    return sum(digit * 10**k for k, digit in enumerate(reversed_digits))


def latent(x: int, y: int, scale: int | None = None) -> list[Pair]:
    """The pairs of digits up to the longer addend, or up to a larger scale with pairs (0, 0)."""
    own = max(len(digits(x)), len(digits(y)))
    scale = own if scale is None else scale
    if scale < own:
        raise ValueError(f"{x} + {y} has scale {own}, more than {scale}")
    return list(zip(_padded(digits(x), scale), _padded(digits(y), scale), strict=True))


def concept(pairs: Sequence[Pair]) -> int:
    """The sum, computed digit by digit with a carry."""
    total, carry = 0, 0
    for k, (x, y) in enumerate(pairs):
        carry, digit = divmod(x + y + carry, 10)
        total += digit * 10**k
    return total + carry * 10 ** len(pairs)


def addition_scale(pairs: Sequence[Pair]) -> int:
    """The least n such that all pairs from the (n+1)-th on are (0, 0)."""
    return max((k for k, pair in enumerate(pairs, start=1) if pair != (0, 0)), default=0)


def aligned(pairs: Sequence[Pair], width: int) -> str:
    """ARF: both addends reversed and padded to the same width."""
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    return f"{_text(_padded(first, width))}+{_text(_padded(second, width))}="


def unaligned(pairs: Sequence[Pair]) -> str:
    """URF: both addends reversed, n_c digits each, n_c one more than the index of the highest nonzero digit."""
    return _unaligned(pairs, one_more=1)


def unaligned_as_printed(pairs: Sequence[Pair]) -> str:
    """URF with the printed n_c = argmax_i {c_i != 0}, the index itself: the highest digit is lost."""
    return _unaligned(pairs, one_more=0)


def read(text: str) -> tuple[int, int]:
    """The addends of a string in either format; a missing addend is 0."""
    first, second = text.removesuffix("=").split("+")
    return number_of([int(digit) for digit in first]), number_of([int(digit) for digit in second])


def _unaligned(pairs: Sequence[Pair], one_more: int) -> str:
    sides = []
    for side in (0, 1):
        values = [pair[side] for pair in pairs]
        highest = max((k for k, digit in enumerate(values) if digit), default=0)
        sides.append(_text(values[: highest + one_more]))
    return f"{sides[0]}+{sides[1]}="


def _padded(values: Sequence[int], width: int) -> list[int]:
    if len(values) > width:
        raise ValueError(f"{len(values)} digits do not fit into a width of {width}")
    return [*values, *[0] * (width - len(values))]


def _text(values: Sequence[int]) -> str:
    return "".join(map(str, values))
