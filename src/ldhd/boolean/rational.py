"""Arithmetic without rounding: arrays of `fractions.Fraction` and elimination on them."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rational = NDArray[np.object_]


def to_fractions(values: Any) -> Rational:
    """The same numbers as fractions, a float as the binary fraction it is; ValueError for anything else."""
    array = np.asarray(values)
    result = np.empty(array.shape, object)
    for position, value in enumerate(array.astype(object).flat):
        # A numpy integer inside a Fraction would overflow silently.
        plain = value.item() if isinstance(value, np.generic) else value
        try:
            result.flat[position] = Fraction(plain)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{plain!r} is no finite number") from None
    return result


def identity(size: int) -> Rational:
    """The identity matrix in fractions."""
    return to_fractions(np.eye(size, dtype=int))


def pivots(rows: Rational, combinations: Rational) -> tuple[Rational, Rational, Rational]:
    """Gauss-Jordan elimination of `rows`, the same operations applied to `combinations`.

    Returns the independent rows in reduced echelon form, their combinations, and the combinations under which the rows
    vanish.
    """
    table, found = np.concatenate([rows, combinations], axis=1), 0
    for column in range(rows.shape[1]):
        candidates = np.flatnonzero(table[found:, column])
        if not len(candidates):
            continue
        order = [found, found + candidates[0]]
        table[order] = table[order[::-1]]
        table[found] /= table[found, column]
        for other in np.flatnonzero(table[:, column]):
            if other != found:
                table[other] -= table[other, column] * table[found]
        found += 1
    reduced, combined = np.split(table, [rows.shape[1]], axis=1)
    return reduced[:found], combined[:found], combined[found:]


def right_inverse(rows: Rational) -> Rational:
    """B^T (B B^T)^{-1} of a matrix of independent rows: B x = c has the shortest solution B^T (B B^T)^{-1} c."""
    inverse = pivots(rows @ rows.T, identity(len(rows)))[1]  # the reduced echelon form of an invertible matrix is I
    return rows.T @ inverse
