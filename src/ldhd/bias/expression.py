"""Functions on the cube as users write them: expressions in x1, x2, .. such as `x1*x2 + 3*x5`.

Besides + - * there are

    n            the scale n(x), the largest k with x_k = -1
    place(k)     x_k where k <= n(x), 0 elsewhere: the k-th symbol of the word x_1 .. x_n, counted from its beginning
    back(k)      x_{n(x)-k}, 0 where there is none: counted from the end, back(0) being x_n
    sign(a), max(a, b, ..), min(a, b, ..)
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import cube_points, scale
from ldhd.boolean.cube import Points
from ldhd.predict.description import evaluate

Floats = NDArray[np.float64]


def evaluate_on_cube(text: str, dimension: int) -> Floats:
    """Return the 2^N values of an expression, ordered as in `ldhd.boolean`; ValueError if it is not one."""
    points = cube_points(dimension)
    scales = scale(points)
    names = {f"x{k + 1}": points[:, k].astype(np.float64) for k in range(dimension)}
    names["n"] = scales.astype(np.float64)
    value = evaluate(text, names, _functions(text, points, scales), (int, float))
    values = np.array(np.broadcast_to(np.asarray(value, np.float64), len(points)))
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{text!r} is not finite on the whole cube")
    return values


def _functions(text: str, points: Points, scales: NDArray[np.int64]) -> dict[str, Callable[..., Any]]:
    def symbol(name: str, k: Any, index: Callable[[int], NDArray[np.int64]]) -> Floats:
        if type(k) is not int or k < 0:
            raise ValueError(f"{name} in {text!r} takes one whole number from 0 up, such as {name}(1)")
        chosen = index(k)
        present = (chosen >= 1) & (chosen <= scales)
        columns = np.where(present, chosen, 1) - 1
        return np.where(present, points[np.arange(len(points)), columns], 0.0)

    def place(k: Any = None, *rest: Any) -> Floats:
        return symbol("place", None if rest else k, lambda k: np.full(len(points), k))

    def back(k: Any = None, *rest: Any) -> Floats:
        return symbol("back", None if rest else k, lambda k: scales - k)

    def sign(value: Any = None, *rest: Any) -> Any:
        if value is None or rest:
            raise ValueError(f"sign in {text!r} takes one value")
        return np.sign(value)

    return {
        "max": lambda *values: reduce(np.maximum, values),
        "min": lambda *values: reduce(np.minimum, values),
        "sign": sign,
        "place": place,
        "back": back,
    }
