"""Words over a finite alphabet as points of a cube, so that everything here applies to functions on Sigma^N.

Each symbol becomes a block of w = ceil(log2 |Sigma|) variables, the bits of its number. The first symbol is the blank:
number 0, all +1, so that words of n symbols with blanks after them lie in the subcube X_{nw}. Where |Sigma| is no power
of two some blocks are no symbol's code; those points are excluded, and an interpolator is free there.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.cube import Points, check_points, point_indices, points_at, scale
from ldhd.boolean.memory import check_memory

Word = tuple[Any, ...]


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

    @property
    def blank(self) -> Hashable:
        return self.alphabet[0]

    def points(self, words: Sequence[Sequence[Hashable]], length: int) -> Points:
        """The codes of words, blanks added up to `length` symbols: shape (m, length * w)."""
        numbers = np.array([self._numbers(word, length) for word in words], np.int64).reshape(-1)
        return points_at(numbers, self.width).reshape(len(words), length * self.width)

    def words(self, points: Any) -> list[Word]:
        """The words of these points, blanks included; ValueError if a block is no symbol's code."""
        numbers = self._blocks(points)
        unused = np.argwhere(numbers >= len(self.alphabet))
        if len(unused):
            row, block = unused[0]
            raise ValueError(f"block {block + 1} of point {row} holds {numbers[row, block]}, the number of no symbol")
        return [tuple(self.alphabet[number] for number in row) for row in numbers.tolist()]

    def is_word(self, points: Any) -> NDArray[np.bool_]:
        """Which points are codes of words; the others are excluded from every function on Sigma^N."""
        return np.all(self._blocks(points) < len(self.alphabet), axis=1)

    def scale(self, points: Any) -> NDArray[np.int64]:
        """The number of symbols up to the last that is not blank."""
        return -(-scale(points) // self.width)

    def tabulate(
        self, function: Callable[[Word], Any], length: int, scale: int | None = None
    ) -> tuple[Points, NDArray[Any]]:
        """Points and values of a function on Sigma^N, N = `length`, where only the first `scale` symbols are not blank.

        The pair is what `min_degree_interpolator` takes. The function receives words as tuples of N symbols, blanks
        included; unused codes are not among the points.
        """
        scale = length if scale is None else scale
        if not 0 <= scale <= length:
            raise ValueError(f"words have 0 .. {length} symbols, got a scale of {scale}")
        count = len(self.alphabet) ** scale
        # A tuple for each word, as given and as read back, a list of numbers, and a byte a coordinate.
        what = f"the {len(self.alphabet)}^{scale} words of {scale} symbols"
        check_memory(count, what, bytes_each=3 * (64 + 8 * length) + length * self.width)
        padded = [word[::-1] for word in product(self.alphabet, repeat=scale)]
        points = self.points(padded, length)
        return points, np.array([function(word) for word in self.words(points)])

    @cached_property
    def _number(self) -> dict[Hashable, int]:
        return {symbol: number for number, symbol in enumerate(self.alphabet)}

    def _numbers(self, word: Sequence[Hashable], length: int) -> list[int]:
        if len(word) > length:
            raise ValueError(f"the word {word!r} has {len(word)} symbols, more than {length}")
        for symbol in word:
            if symbol not in self._number:
                raise ValueError(f"{symbol!r} in {word!r} is no symbol of {self.alphabet!r}")
        return [self._number[symbol] for symbol in word] + [0] * (length - len(word))

    def _blocks(self, points: Any) -> NDArray[np.int64]:
        """The number in each block: shape (m, length)."""
        points = check_points(points)
        if points.shape[1] % self.width:
            raise ValueError(f"points have {points.shape[1]} coordinates, no whole number of blocks of {self.width}")
        return point_indices(points.reshape(-1, self.width)).reshape(len(points), -1)
