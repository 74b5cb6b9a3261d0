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

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphabet", tuple(self.alphabet))
        if len(self.alphabet) < 2:
            raise ValueError(f"an alphabet has a blank and at least one more symbol, got {self.alphabet!r}")
        if len(set(self.alphabet)) != len(self.alphabet):
            raise ValueError(f"the symbols of an alphabet differ, got {self.alphabet!r}")

    @property
    def width(self) -> int:
        """w, the number of variables a symbol takes."""
        return (len(self.alphabet) - 1).bit_length()

    def points(self, words: Sequence[Sequence[Hashable]], length: int) -> Points:
        """The codes of words, blanks added up to `length` symbols: shape (m, length * w)."""
        number = {symbol: number for number, symbol in enumerate(self.alphabet)}
        numbers = np.zeros((len(words), length), np.int64)
        for row, word in enumerate(words):
            if len(word) > length:
                raise ValueError(f"the word {word!r} has {len(word)} symbols, more than {length}")
            for column, symbol in enumerate(word):
                if symbol not in number:
                    raise ValueError(f"{symbol!r} in {word!r} is no symbol of {self.alphabet!r}")
                numbers[row, column] = number[symbol]
        return points_at(numbers.reshape(-1), self.width).reshape(len(words), length * self.width)

    def scale(self, points: Any) -> NDArray[np.int64]:
        """The number of symbols up to the last that is not blank."""
        return -(-scale(points) // self.width)
