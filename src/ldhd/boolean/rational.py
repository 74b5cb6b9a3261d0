"""Arithmetic without rounding: arrays of `fractions.Fraction` and elimination on them."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rational = NDArray[np.object_]


def to_fractions(values: Any) -> Rational:
    """The same numbers as fractions; a float stands for the binary fraction it is, 0.5 for 1/2 but 0.1 for a neighbour.

    ValueError quoting the first entry that is no finite number.
    """
    array = np.asarray(values)
    result = np.empty(array.shape, object)
    for position, value in enumerate(array.astype(object).flat):
        result.flat[position] = _to_fraction(value)
    return result


def pivots(rows: Rational, combinations: Rational) -> tuple[Rational, Rational, Rational]:
    """Gaussian elimination of `rows`, the same operations applied to `combinations`.

    Returns the independent rows, their combinations, and the combinations under which the rows vanish.
    """
    rows, combinations = rows.copy(), combinations.copy()
    found = 0
    for column in range(rows.shape[1]):
        candidates = np.flatnonzero(rows[found:, column])
        if not len(candidates):
            continue
        order = [found, found + candidates[0]]
        rows[order], combinations[order] = rows[order[::-1]], combinations[order[::-1]]
        for below in found + np.flatnonzero(rows[found:, column])[1:]:
            factor = rows[below, column] / rows[found, column]
            rows[below] -= factor * rows[found]
            combinations[below] -= factor * combinations[found]
        found += 1
    return rows[:found], combinations[:found], combinations[found:]


def right_inverse(rows: Rational) -> Rational:
    """B^T (B B^T)^{-1} of a matrix of independent rows: B x = c has the shortest solution B^T (B B^T)^{-1} c."""
    return rows.T @ _inverse(rows @ rows.T) if len(rows) else rows.T


def _inverse(matrix: Rational) -> Rational:
    """Gauss-Jordan elimination; a Gram matrix of independent rows has nonzero pivots in its given order."""
    size = len(matrix)
    table = np.concatenate([matrix, to_fractions(np.eye(size, dtype=int))], axis=1)
    for pivot in range(size):
        table[pivot] = table[pivot] / table[pivot, pivot]
        for row in range(size):
            if row != pivot and table[row, pivot]:
                table[row] = table[row] - table[row, pivot] * table[pivot]
    return table[:, size:]


def _to_fraction(value: Any) -> Fraction:
    # A numpy integer inside a Fraction would overflow silently.
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        return Fraction(plain)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{plain!r} is no finite number") from None
