"""The claims about latent variables and data formats: Abstraction 1, Examples 1 and 2, and URF in Appendix D.

Strings are the prompts of `addition` (URF) and `addition-aligned` (ARF) without their `b`, as the paper prints them.
"""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import Encoding, cube_points, scale
from ldhd.tasks import TASKS, digits
from ldhd.tasks.addition import Addends
from ldhd.tasks.addition_aligned import AlignedFormat
from ldhd.tasks.digits import Digits
from ldhd.theory.finding import Finding, judge

Columns = NDArray[np.int64]
"""Digits of many numbers at once, of shape (places, numbers), or those at one place."""

ADDITION = TASKS["addition"]

PAIRS = [pair for pair in product(range(100), repeat=2) if any(pair)]
"""All pairs of addends up to two digits, without 0 + 0, which has no highest nonzero digit."""


def addends(x: int, y: int) -> Addends:
    """Return the latent variable of x + y."""
    return tuple(map(int, reversed(str(x)))), tuple(map(int, reversed(str(y))))


def unaligned(latent: Addends) -> str:
    """Write a prompt in URF, with all digits of each addend: `21+7=` for 12 + 7."""
    return ADDITION.format.prompt(latent)[1:]


def unaligned_as_printed(latent: Addends) -> str:
    """Write a prompt in URF with the printed n_c = argmax_i {c_i != 0}, an index: the highest digit is lost."""
    return "+".join(digits.write(addend[:-1]) for addend in latent) + "="


def aligned(latent: Addends, width: int) -> str:
    """Write a prompt in ARF: `210+700=` for 12 + 7 at width 3."""
    return AlignedFormat(width).prompt(latent)[1:]


def read_addends(text: str) -> tuple[int, int]:
    """Return the addends of a string in either format; a missing addend is 0."""
    first, second = text.removesuffix("=").split("+")
    return int(first[::-1] or 0), int(second[::-1] or 0)


def abstraction_1() -> Finding:
    """The printed scale of h on the nested spaces X_k of the cube, and labels read back from both formats."""
    dimension = 4
    points = cube_points(dimension)
    inside = np.array([scale(points) <= k for k in range(dimension + 2)])  # inside[k]: h in X_k; X_5 contains X_4
    defined = int(np.sum(np.any(inside[:-1] & ~inside[1:], axis=0)))
    corrected = bool(np.all(np.argmax(inside, axis=0) == scale(points)))
    mismatches = sum(
        not _value(ADDITION.concept(latent))
        == sum(read_addends(unaligned(latent)))
        == sum(read_addends(aligned(latent, 2)))
        for latent in (addends(x, y) for x, y in PAIRS)
    )
    return Finding(
        "The label is a function of the latent variable h and not of its format; the scale of h is argmax_k {h in S^k, "
        "h not in S^(k+1)}.",
        judge(defined == len(points) and not mismatches, corrected and not mismatches, amends=True),
        "The formula fits words, where the S^k are disjoint. In the nested spaces S^n x {blank}^(N-n) that Definition "
        "1 and Section 4 need, no h is in S^k but not in S^(k+1); the scale is min {k : h in X_k}.",
        {
            "points": len(points),
            "points_where_the_printed_scale_is_defined": defined,
            "least_k_is_the_scale": corrected,
            "instances": len(PAIRS),
            "labels_that_differ_between_formats": mismatches,
        },
    )


def example_1() -> Finding:
    """The strings of Example 1, and the digits that the printed n_c keeps."""
    strings = [addends(1, 4321), addends(321, 321)]
    scales = [ADDITION.latent.scale(latent) for latent in strings]
    lengths = [len(unaligned(latent)) for latent in strings]
    latents = {pair: addends(*pair) for pair in PAIRS}
    aligned_lengths = {len(aligned(latent, 2)) for latent in latents.values()}
    own_width_lengths = {len(aligned(latent, ADDITION.latent.scale(latent))) for latent in latents.values()}
    lost = [pair for pair, latent in latents.items() if read_addends(unaligned_as_printed(latent)) != pair]
    kept = all(read_addends(unaligned(latent)) == pair for pair, latent in latents.items())
    claims = scales[0] > scales[1] and lengths[0] < lengths[1] and len(aligned_lengths) == 1
    return Finding(
        "The length of the string does not show the scale: it is constant in ARF, and in URF, with n_c = argmax_i "
        "{c_i != 0} digits an addend, a shorter string may have the larger scale.",
        judge(claims and not lost, claims and kept, amends=True),
        "n_c is the number of digits, argmax + 1: the index itself drops the highest digit. The length is constant in "
        "ARF only if all instances share one width; padded to its own scale n a string has length 2n + 2.",
        {
            "strings": [unaligned(latent) for latent in strings],
            "scales": scales,
            "lengths": lengths,
            "aligned_lengths_at_width_2": sorted(aligned_lengths),
            "aligned_lengths_at_own_scale": sorted(own_width_lengths),
            "instances": len(PAIRS),
            "changed_by_printed_n_c": len(lost),
            "printed_form_of_12_plus_7": unaligned_as_printed(addends(12, 7)),
            "corrected_form_of_12_plus_7": unaligned(addends(12, 7)),
        },
    )


def example_2() -> Finding:
    """The sum as a concept on nested latent spaces, also after coding each pair of digits by 7 bits."""
    code = Encoding(tuple(product(range(10), repeat=2)))
    latents = [addends(x, y) for x, y in PAIRS]
    padded = [(digits.pad(x, 3), digits.pad(y, 3)) for x, y in latents]
    sums, padded_sums = ([_value(ADDITION.concept(latent)) for latent in group] for group in (latents, padded))
    wrong_sums = sum(found != x + y for found, (x, y) in zip(sums, PAIRS, strict=True))
    changed_by_padding = sum(one != other for one, other in zip(sums, padded_sums, strict=True))
    expected = [ADDITION.latent.scale(latent) for latent in latents]
    scales = code.scale(code.points([list(zip(*latent, strict=True)) for latent in padded], length=3)).tolist()
    holds = not wrong_sums and not changed_by_padding and scales == expected
    return Finding(
        "n-addition has the latent variable [(x_0, y_0), .., (x_{n-1}, y_{n-1})]; more digits are more dimensions, and "
        "the sum is a concept on them.",
        judge(holds),
        evidence={
            "instances": len(PAIRS),
            "wrong_sums": wrong_sums,
            "sums_changed_by_padding_with_zeros": changed_by_padding,
            "scales_that_differ_from_the_number_of_digits": sum(a != b for a, b in zip(scales, expected, strict=True)),
            "bits_a_dimension": code.width,
        },
    )


def appendix_d_needs() -> Finding:
    """Which tokens determine the next one after s = z_1, over all pairs of three-digit strings (n_3(s) = 2)."""
    second, first = np.indices((1000, 1000)).reshape(2, -1)
    x, y, z = _columns(first, 3), _columns(second, 3), _columns(first + second, 4)
    query = 2
    printed = _slots(x, y, z, query - 1, query)
    corrected = _slots(x, y, z, query, query + 1)
    ambiguous = _ambiguous(printed, z[query])
    without_one = {
        name: _ambiguous({other: value for other, value in corrected.items() if other != name}, z[query])
        for name in corrected
    }
    fixed = _ambiguous(corrected, z[query]) == 0 and all(without_one.values())
    return Finding(
        "To predict the token after s with n_3(s) = t one needs the tokens at distances t - 1 and t from [BOS] and "
        "from +, and t - 1 from =; z_k is determined by x_{k-1}, x_k, y_{k-1}, y_k and z_k.",
        judge(ambiguous == 0, fixed, amends=True),
        "The printed conditions are what s itself needs. The token after s = z_{t-1} needs x_{t-1}, y_{t-1} at "
        "distance t, x_t, y_t at distance t + 1 from their anchors, and s itself: z_k follows from x_{k-1}, x_k, "
        "y_{k-1}, y_k and z_{k-1}, and from no four of them.",
        {
            "instances": len(z[0]),
            "printed_slots": sorted(printed),
            "share_of_printed_slot_values_with_several_next_tokens": ambiguous,
            "share_of_printed_slot_values_with_several_values_of_s_itself": _ambiguous(printed, z[query - 1]),
            "corrected_slots": sorted(corrected),
            "share_of_corrected_slot_values_with_several_next_tokens": _ambiguous(corrected, z[query]),
            "the_same_without_one_slot": without_one,
            "counterexample": _counterexample(printed, x, y, z, query),
        },
    )


def appendix_d_sampler() -> Finding:
    """The one-digit addends that the sampler of URF addition can draw."""
    printed = list(_interval(1, exceptional=0))
    corrected = list(_interval(1, exceptional=1))
    return Finding(
        "Addends of length n_i in {1, .., n} are drawn from [10^(n_i - 1), 10^n_i - 1], and from [0, 9] if n_i = 0: "
        "all addends of every length.",
        judge(printed == list(range(10)), corrected == list(range(10)), amends=True),
        "The exception is for n_i = 1. No n_i is 0, so as printed the addend 0 never occurs.",
        {"one_digit_addends_printed": printed, "one_digit_addends_corrected": corrected},
    )


def _interval(length: int, exceptional: int) -> range:
    return range(10) if length == exceptional else range(10 ** (length - 1), 10**length)


def _value(number: Digits) -> int:
    return sum(digit * 10**k for k, digit in enumerate(number))


def _columns(numbers: Columns, count: int) -> Columns:
    return np.array([numbers // 10**k % 10 for k in range(count)])


def _slots(x: Columns, y: Columns, z: Columns, near: int, far: int) -> dict[str, Columns]:
    """The tokens at these distances from their anchors; distance d from [BOS] is x_{d-1}, and likewise for + and =."""
    addends = {f"{name}_{d - 1}": side[d - 1] for name, side in (("x", x), ("y", y)) for d in (near, far)}
    return {**addends, f"z_{near - 1}": z[near - 1]}


def _keys(slots: dict[str, Columns]) -> Columns:
    return np.sum([value * 10**k for k, value in enumerate(slots.values())], axis=0)


def _ambiguous(slots: dict[str, Columns], target: Columns) -> float:
    """The share of slot values that occur with more than one value of the target."""
    values = np.unique(_keys(slots) * 10 + target) // 10
    return float(np.mean(np.unique(values, return_counts=True)[1] > 1))


def _counterexample(slots: dict[str, Columns], x: Columns, y: Columns, z: Columns, query: int) -> list[dict[str, Any]]:
    """Two instances that agree in all slots and differ in the next token."""
    keys = _keys(slots)
    last = np.zeros(10 ** len(slots), int)
    last[keys] = np.arange(len(keys))
    # Three-digit addends, so that nothing about the boundary is involved.
    inner = (x[2] > 0) & (y[2] > 0)
    one = int(np.flatnonzero(inner & inner[last[keys]] & (z[query][last[keys]] != z[query]))[0])
    pair = []
    for index in (one, int(last[keys[one]])):
        prompt = unaligned((tuple(x[:3, index].tolist()), tuple(y[:3, index].tolist())))
        pair.append({"string": f"b{prompt}{z[0, index]}{z[1, index]}", "next": int(z[query, index])})
    return pair
