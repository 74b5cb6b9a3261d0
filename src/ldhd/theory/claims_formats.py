"""The claims about latent variables and data formats: Abstraction 1, Examples 1 and 2, and URF in Appendix D."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import cube_points, encode, scale
from ldhd.theory.finding import Finding, judge
from ldhd.theory.number_formats import (
    addition_scale,
    aligned,
    concept,
    digits,
    latent,
    read,
    unaligned,
    unaligned_as_printed,
)

Digits = NDArray[np.int64]

# All pairs of addends up to two digits, without 0 + 0, which has no highest nonzero digit.
PAIRS = [pair for pair in product(range(100), repeat=2) if any(pair)]


def abstraction_1() -> Finding:
    """The printed scale of h on the nested spaces X_k of the cube, and labels read back from both formats."""
    dimension = 4
    points = cube_points(dimension)
    inside = np.array([scale(points) <= k for k in range(dimension + 2)])  # inside[k]: h in X_k; X_5 contains X_4
    defined = int(np.sum(np.any(inside[:-1] & ~inside[1:], axis=0)))
    corrected = bool(np.all(np.argmax(inside, axis=0) == scale(points)))
    mismatches = sum(
        not concept(latent(x, y)) == sum(read(unaligned(latent(x, y)))) == sum(read(aligned(latent(x, y), 2)))
        for x, y in PAIRS
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
    first, second = [(1, 1), (0, 2), (0, 3), (0, 4)], [(1, 1), (2, 2), (3, 3)]
    scales = [addition_scale(first), addition_scale(second)]
    lengths = [len(unaligned(first)), len(unaligned(second))]
    aligned_lengths = {len(aligned(latent(x, y), 2)) for x, y in PAIRS}
    own_width_lengths = sorted({len(aligned(latent(x, y), addition_scale(latent(x, y)))) for x, y in PAIRS})
    lost = [(x, y) for x, y in PAIRS if read(unaligned_as_printed(latent(x, y))) != (x, y)]
    kept = all(read(unaligned(latent(x, y))) == (x, y) for x, y in PAIRS)
    claims = scales[0] > scales[1] and lengths[0] < lengths[1] and len(aligned_lengths) == 1
    return Finding(
        "The length of the string does not show the scale: it is constant in ARF, and in URF, with n_c = argmax_i "
        "{c_i != 0} digits an addend, a shorter string may have the larger scale.",
        judge(claims and not lost, claims and kept, amends=True),
        "n_c is the number of digits, argmax + 1: the index itself drops the highest digit. The length is constant in "
        "ARF only if all instances share one width; padded to its own scale n a string has length 2n + 2.",
        {
            "strings": [unaligned(first), unaligned(second)],
            "scales": scales,
            "lengths": lengths,
            "aligned_lengths_at_width_2": sorted(aligned_lengths),
            "aligned_lengths_at_own_scale": own_width_lengths,
            "instances": len(PAIRS),
            "changed_by_printed_n_c": len(lost),
            "printed_form_of_12_plus_7": unaligned_as_printed(latent(12, 7)),
            "corrected_form_of_12_plus_7": unaligned(latent(12, 7)),
        },
    )


def example_2() -> Finding:
    """The sum as a concept on nested latent spaces, also after coding each pair of digits by 7 bits."""
    code = encode(tuple(product(range(10), repeat=2)))
    padded = [latent(x, y, scale=3) for x, y in PAIRS]
    wrong_sums = sum(concept(latent(x, y)) != x + y for x, y in PAIRS)
    changed_by_padding = sum(concept(long) != concept(latent(*pair)) for long, pair in zip(padded, PAIRS, strict=True))
    expected = [max(len(digits(x)), len(digits(y))) for x, y in PAIRS]
    scales = code.scale(code.points(padded, length=3)).tolist()
    holds = not wrong_sums and not changed_by_padding and scales == expected
    return Finding(
        "n-addition has the latent variable [(x_0, y_0), .., (x_{n-1}, y_{n-1})]; more digits are more dimensions, and "
        "the sum is a concept on them.",
        judge(holds, holds, amends=True),
        "",
        {
            "instances": len(PAIRS),
            "wrong_sums": wrong_sums,
            "sums_changed_by_padding_with_zeros": changed_by_padding,
            "scales_that_differ_from_the_number_of_digits": sum(a != b for a, b in zip(scales, expected, strict=True)),
            "bits_a_dimension": code.width,
        },
    )


def appendix_d_needs() -> Finding:
    """Which tokens determine the next one after s = z_1, over all pairs of three-digit strings (n_3(s) = 2)."""
    x, y, z = _three_digit_sums()
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


def _three_digit_sums() -> tuple[Digits, Digits, Digits]:
    """Digits x_k, y_k, z_k of all pairs of addends below 1000: shapes (3, m), (3, m) and (4, m)."""
    first, second = (side.ravel() for side in np.meshgrid(np.arange(1000), np.arange(1000)))
    return _digits(first, 3), _digits(second, 3), _digits(first + second, 4)


def _digits(numbers: Digits, count: int) -> Digits:
    return np.array([numbers // 10**k % 10 for k in range(count)])


def _slots(x: Digits, y: Digits, z: Digits, near: int, far: int) -> dict[str, Digits]:
    """The tokens at these distances from their anchors; distance d from [BOS] is x_{d-1}, and likewise for + and =."""
    addends = {f"{name}_{d - 1}": side[d - 1] for name, side in (("x", x), ("y", y)) for d in (near, far)}
    return {**addends, f"z_{near - 1}": z[near - 1]}


def _keys(slots: dict[str, Digits]) -> Digits:
    return np.sum([value * 10**k for k, value in enumerate(slots.values())], axis=0)


def _ambiguous(slots: dict[str, Digits], target: Digits) -> float:
    """The share of slot values that occur with more than one value of the target."""
    keys = _keys(slots)
    example = np.full(10 ** len(slots), -1)
    example[keys] = target
    differing = np.zeros(len(example), bool)
    differing[keys[example[keys] != target]] = True
    return float(differing.sum() / np.sum(example >= 0))


def _counterexample(slots: dict[str, Digits], x: Digits, y: Digits, z: Digits, query: int) -> list[dict[str, Any]]:
    """Two instances that agree in all slots and differ in the next token."""
    keys = _keys(slots)
    last = np.zeros(10 ** len(slots), int)
    last[keys] = np.arange(len(keys))
    # Three-digit addends, so that nothing about the boundary is involved.
    inner = (x[2] > 0) & (y[2] > 0)
    one = int(np.flatnonzero(inner & inner[last[keys]] & (z[query][last[keys]] != z[query]))[0])
    pair = []
    for index in (one, int(last[keys[one]])):
        prompt = unaligned(list(zip(x[:3, index].tolist(), y[:3, index].tolist(), strict=True)))
        pair.append({"string": f"b{prompt}{z[0, index]}{z[1, index]}", "next": int(z[query, index])})
    return pair
