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
of its own, and the interpolator on scale N0 is wrong beyond it (`final_state_error`). It takes a basis in which all
steps share one function, as RPE gives it (`shared_step_error`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import BooleanFunction, Expansion, FourierBasis, cube_points, min_degree_interpolator, subcube_points
from ldhd.boolean.cube import Points


@dataclass(frozen=True)
class Recurrence:
    """`step` maps points of shape (m, bits + 1), the bits of one dimension and then the state, to m new states."""

    bits: int
    step: Callable[[Points], NDArray[Any]]

    def states(self, points: Points) -> Points:
        """s_1 .. s_n for points of shape (m, n * bits): shape (m, n)."""
        states = [np.ones(len(points), np.int8)]
        for start in range(0, points.shape[1], self.bits):
            state = self.step(np.column_stack([points[:, start : start + self.bits], states[-1]]))
            states.append(state.astype(np.int8))
        return np.array(states).T[:, 1:]

    def degrees(self, scale: int) -> tuple[int, int]:
        """The degree of s_n in all n * bits bits, and in the bits of its own dimension and s_{n-1}."""
        without_chain = BooleanFunction.of(lambda points: self.states(points)[:, -1], scale * self.bits)
        return without_chain.degree, BooleanFunction.of(self.step, self.bits + 1).degree


PARITY = Recurrence(1, lambda points: points[:, 0] * points[:, 1])
CARRY = Recurrence(2, lambda points: np.where(points.sum(axis=1, dtype=int) > 0, 1, -1))


def sum_digit_degrees(scale: int) -> tuple[int, int]:
    """The degree of digit z_n, n >= 2, of a binary sum, in all bits, and in (x_{n-1}, y_{n-1}, z_{n-1}, x_n, y_n).

    z_n = x_n y_n s_{n-1}. Chain of thought shows z_{n-1} and not the carry, but s_{n-2} = x_{n-1} y_{n-1} z_{n-1}.
    """

    def without_chain(points: Points) -> NDArray[Any]:
        return points[:, -2] * points[:, -1] * CARRY.states(points)[:, -2]

    def with_chain(points: Points) -> NDArray[Any]:
        x_before, y_before, z_before, x, y = points.T
        return x * y * CARRY.step(np.column_stack([x_before, y_before, x_before * y_before * z_before]))

    return BooleanFunction.of(without_chain, 2 * scale).degree, BooleanFunction.of(with_chain, 5).degree


def learn_final_state(recurrence: Recurrence, training_scale: int, scale: int, with_chain: bool) -> Expansion:
    """The Fourier min-degree interpolator of s_N on X_N0, in x_1 .. x_N and, with chain of thought, s_1 .. s_{N-1}.

    Only latent variables that occur are interpolated, those whose s_k follow from the x_k. With N0 = N it shows that
    the degree of the step is really the least: no shortcut through other variables is simpler.
    """
    points = subcube_points(recurrence.bits * scale, recurrence.bits * training_scale)
    visible = _visible(recurrence, points, with_chain)
    return min_degree_interpolator(visible, recurrence.states(points)[:, -1], FourierBasis(visible.shape[1]))


def final_state_error(recurrence: Recurrence, training_scale: int, scale: int, with_chain: bool) -> float:
    """How often `learn_final_state` is wrong about s_N on X_N."""
    learned = learn_final_state(recurrence, training_scale, scale, with_chain)
    test = cube_points(recurrence.bits * scale)
    # How often the sign of a prediction is wrong; a zero is always wrong.
    return float(np.mean(learned(_visible(recurrence, test, with_chain)) * recurrence.states(test)[:, -1] <= 1e-9))


def shared_step_error(recurrence: Recurrence, training_scale: int, scale: int) -> float:
    """With chain of thought and one step function for all dimensions, trained on the steps of X_N0: how often wrong.

    The learned step is applied to its own results, as in decoding; a real number counts as its sign.
    """
    training, test = (cube_points(recurrence.bits * n) for n in (training_scale, scale))
    after = recurrence.states(training)
    before = np.column_stack([np.ones(len(training), np.int8), after[:, :-1]])
    steps = np.column_stack([training.reshape(-1, recurrence.bits), before.reshape(-1)])
    learned = min_degree_interpolator(steps, after.reshape(-1), FourierBasis(recurrence.bits + 1))
    rolled = Recurrence(recurrence.bits, lambda points: np.where(learned(points) >= 0, 1, -1))
    return float(np.mean(rolled.states(test)[:, -1] != recurrence.states(test)[:, -1]))


def _visible(recurrence: Recurrence, points: Points, with_chain: bool) -> Points:
    return np.column_stack([points, recurrence.states(points)[:, :-1]]) if with_chain else points
