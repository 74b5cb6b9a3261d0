"""Words over a finite alphabet as points of a cube, so that everything here applies to functions on Sigma^N.

Each symbol becomes a block of w = ceil(log2 |Sigma|) variables, the bits of its number. The first symbol is the blank:
number 0, all +1, so that words of n symbols with blanks after them lie in the subcube X_{nw}.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.cube import Points, points_at, scale


@dataclass(frozen=True)
class Encoding:
    """The block code of an alphabet whose first symbol is the blank: symbol s has x_k = -1 where bit k - 1 of s is set.

        >>> code = Encoding("_abc")
        >>> code.points(["b", "_a"], length=2)   # _ is (1, 1), a is (-1, 1), b is (1, -1), c is (-1, -1)
        array([[ 1, -1,  1,  1],
               [ 1,  1, -1,  1]], dtype=int8)

    `Encoding((1, -1))` is the paper's own case: one variable a symbol, and a word is its point.
    """

    alphabet: Sequence[Hashable]

    @property
    def width(self) -> int:
        """w, the number of variables a symbol takes."""
        return (len(self.alphabet) - 1).bit_length()

    def points(self, words: Sequence[Sequence[Hashable]], length: int) -> Points:
        """The codes of words, blanks added up to `length` symbols: shape (m, length * w)."""
        number = {symbol: number for number, symbol in enumerate(self.alphabet)}
        padded = [[number[symbol] for symbol in word] + [0] * (length - len(word)) for word in words]
        return points_at(np.array(padded, int).reshape(-1), self.width).reshape(len(words), length * self.width)

    def scale(self, points: Any) -> NDArray[np.int64]:
        """The number of symbols up to the last that is not blank."""
        return -(-scale(points) // self.width)
