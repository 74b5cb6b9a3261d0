"""Chain of thought as a change of the latent space (Section 5.1): one concept with and without its middle variable.

A recurrence reads one group of bits a step and carries one bit s along:

    s_k = step(x_k, s_{k-1}),    s_0 = 1,    bits as in `ldhd.boolean`: 1 is a zero, -1 is a one.

Without chain of thought the latent variable is (x_1, .., x_n) and the concept s_n has a degree that grows with n. With
it each dimension also holds s_k, still n dimensions over a larger alphabet, and the concept of one step is a function
of the bits of one dimension and one bit of the dimension before:

    parity           s_k = x_k s_{k-1}                       degree n     against 2
    carry            s_k = majority(x_k, y_k, s_{k-1})       degree 2n    against 3
    digit of a sum   z_k, from s_{k-1} recovered as x y z    degree 2n    against 5

A lower degree is not yet LDHD generalization: in the Fourier basis of the larger latent space every step has variables
of its own, and the interpolator on scale N0 is wrong beyond it (`separate_steps_error`). It takes a basis in which all
steps share one function, as RPE gives it (`shared_step_error`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import (
    BooleanFunction,
    Expansion,
    FourierBasis,
    cube_points,
    min_degree_interpolator,
    subcube_points,
)
from ldhd.boolean.cube import Points, check_points


@dataclass(frozen=True)
class Recurrence:
    """`step` maps points of shape (m, bits + 1), the bits of one dimension and then the state, to m new states."""

    name: str
    bits: int
    step: Callable[[Points], NDArray[Any]]

    def states(self, points: Any) -> Points:
        """s_1 .. s_n for points of shape (m, n * bits): shape (m, n)."""
        points = check_points(points)
        if points.shape[1] % self.bits:
            raise ValueError(f"{self.name} reads {self.bits} bits a step, got {points.shape[1]} bits")
        columns = []
        state = np.ones(len(points), np.int8)
        for start in range(0, points.shape[1], self.bits):
            state = self.step(np.column_stack([points[:, start : start + self.bits], state])).astype(np.int8)
            columns.append(state)
        return np.array(columns, np.int8).reshape(-1, len(points)).T

    def without_chain(self, scale: int) -> BooleanFunction:
        """s_n as a function of all n * bits bits."""
        if scale < 1:
            raise ValueError(f"the scale is a whole number from 1 up, got {scale}")
        return BooleanFunction.of(lambda points: self.states(points)[:, -1], scale * self.bits)

    def with_chain(self) -> BooleanFunction:
        """s_k as a function of the bits of dimension k and of s_{k-1}: the same for every k."""
        return BooleanFunction.of(self.step, self.bits + 1)


PARITY = Recurrence("parity", 1, lambda points: points[:, 0] * points[:, 1])
CARRY = Recurrence("carry", 2, lambda points: np.where(points.sum(axis=1, dtype=int) > 0, 1, -1))


Degrees = tuple[int, int]
"""The Fourier degree of a concept without and with the middle variable."""


def recurrence_degrees(recurrence: Recurrence, scale: int) -> Degrees:
    """The degree of s_n in all bits, and in the bits of its own dimension and s_{n-1}."""
    return recurrence.without_chain(scale).degree, recurrence.with_chain().degree


def sum_digit_degrees(scale: int) -> Degrees:
    """The degree of digit z_n of a binary sum, in all bits, and in (x_{n-1}, y_{n-1}, z_{n-1}, x_n, y_n).

    z_n = x_n y_n s_{n-1}. Chain of thought shows z_{n-1} and not the carry, but s_{n-2} = x_{n-1} y_{n-1} z_{n-1}.
    """
    if scale < 2:
        raise ValueError(f"digit z_n has a digit before it for n >= 2, got n = {scale}")

    def without_chain(points: Points) -> NDArray[Any]:
        return points[:, -2] * points[:, -1] * CARRY.states(points)[:, -2]

    def with_chain(points: Points) -> NDArray[Any]:
        x_before, y_before, z_before, x, y = points.T
        return x * y * CARRY.step(np.column_stack([x_before, y_before, x_before * y_before * z_before]))

    return BooleanFunction.of(without_chain, 2 * scale).degree, BooleanFunction.of(with_chain, 5).degree


def direct_error(recurrence: Recurrence, training_scale: int, scale: int) -> float:
    """Without chain of thought: how often the Fourier min-degree interpolator on X_N0 is wrong about s_N on X_N."""
    dimension = recurrence.bits * scale
    training = subcube_points(dimension, recurrence.bits * training_scale)
    test = cube_points(dimension)
    learned = min_degree_interpolator(training, recurrence.states(training)[:, -1], FourierBasis(dimension))
    return _error_rate(learned(test), recurrence.states(test)[:, -1])


def separate_steps_error(recurrence: Recurrence, training_scale: int, scale: int) -> float:
    """With chain of thought, s_N from x_1 .. x_N and s_1 .. s_{N-1}, trained where x_k = 1 for k > N0: how often wrong.

    The basis is the Fourier basis of all these variables: no two steps share anything.
    """
    learned = chain_interpolator(recurrence, training_scale, scale)
    test = _chain_points(recurrence, cube_points(recurrence.bits * scale))
    return _error_rate(learned(test), recurrence.states(cube_points(recurrence.bits * scale))[:, -1])


def chain_interpolator(recurrence: Recurrence, training_scale: int, scale: int) -> Expansion:
    """The Fourier min-degree interpolator of s_N in the variables x_1 .. x_N, s_1 .. s_{N-1} on X_N0.

    Only latent variables that occur are interpolated, those whose s_k follow from the x_k. With N0 = N it shows that
    the degree of the step is really the least: no shortcut through other variables is simpler.
    """
    training = subcube_points(recurrence.bits * scale, recurrence.bits * training_scale)
    points = _chain_points(recurrence, training)
    return min_degree_interpolator(points, recurrence.states(training)[:, -1], FourierBasis(points.shape[1]))


def shared_step_error(recurrence: Recurrence, training_scale: int, scale: int) -> float:
    """With chain of thought and one step function for all dimensions, trained on the steps of X_N0: how often wrong.

    The learned step is applied to its own results, as in decoding; a real number counts as its sign.
    """
    dimension = recurrence.bits * scale
    training = subcube_points(dimension, recurrence.bits * training_scale)[:, : recurrence.bits * training_scale]
    seen, results = _steps(recurrence, training)
    learned = min_degree_interpolator(seen, results, FourierBasis(recurrence.bits + 1))
    rolled = Recurrence(recurrence.name, recurrence.bits, lambda points: np.where(learned(points) >= 0, 1, -1))
    test = cube_points(dimension)
    return _error_rate(rolled.states(test)[:, -1], recurrence.states(test)[:, -1])


def _steps(recurrence: Recurrence, points: Points) -> tuple[Points, NDArray[Any]]:
    """Every step of these instances: the bits and the state before it, and the state after it."""
    states = recurrence.states(points)
    before = np.column_stack([np.ones(len(points), np.int8), states[:, :-1]])
    bits = points.reshape(-1, recurrence.bits)
    return np.column_stack([bits, before.reshape(-1)]), states.reshape(-1)


def _chain_points(recurrence: Recurrence, points: Points) -> Points:
    return np.column_stack([points, recurrence.states(points)[:, :-1]])


def _error_rate(predictions: NDArray[Any], values: NDArray[Any]) -> float:
    """How often the sign of a prediction is wrong; a zero is always wrong."""
    return float(np.mean(predictions * values <= 1e-9))
