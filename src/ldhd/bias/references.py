"""What a learned function is compared with: the concept, min-degree interpolators, the kernel limit, any function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.bias.embedding import embedding_basis
from ldhd.bias.expression import evaluate_on_cube
from ldhd.bias.problem import Problem
from ldhd.bias.product import fourier_interpolator
from ldhd.boolean import Basis, PlaaBasis, ProjectionBasis, inverse_fourier, min_degree_interpolator
from ldhd.boolean.cube import points_at
from ldhd.boolean.memory import check_memory
from ldhd.positions import POSITIONS
from ldhd.theory.feature_kernel import RELU, Activation, kernel_interpolator
from ldhd.theory.feature_spectrum import closed_form

Floats = NDArray[np.float64]

CHUNK = 2**14
"""Points of the cube that are evaluated at once."""

LARGEST_SOLVED = 2**24
"""Training points times elements up to which an interpolator is solved for: about a minute."""

FIXED = ("concept", "fourier", "plaa", "kernel", "B(V)")


@dataclass(frozen=True, eq=False)
class Reference:
    """A function to compare with, by its values on the cube; without values, `reason` says why there are none."""

    name: str
    values: Floats | None
    reason: str = ""


def references(problem: Problem, names: Sequence[str], V: Any = None) -> list[Reference]:
    """Return the references of these names, those of embeddings by the embedding's; ValueError for an unknown one.

    `=x1 + x2` is the function that the expression stands for.

    A basis that cannot be used at all, such as a B(V) that is linearly dependent, is an error too. A concept that is
    outside the span of a basis on the training points has no interpolator there: the reference has a reason instead.
    """
    return [_reference(problem, name, V) for name in names]


def _reference(problem: Problem, name: str, V: Any) -> Reference:
    basis: Basis | None = None
    if name.startswith("="):
        return Reference(name, evaluate_on_cube(name[1:], problem.dimension))
    if name == "B(V)":
        if V is None:
            raise ValueError("B(V) needs a V; give --projection")
        basis = ProjectionBasis(check_columns(V, problem.dimension))
    elif name == "plaa":
        basis = PlaaBasis(problem.dimension)
    elif name not in FIXED:
        if not any(term in POSITIONS for term in name.split("+")) and ":" not in name:
            raise ValueError(f"unknown basis {name!r}; choose from {', '.join(FIXED)} or an embedding such as rpe")
        basis = embedding_basis(name, problem.dimension)
    if basis is None:
        return _computed(name, problem)
    try:
        return Reference(name, interpolator(problem, basis))
    except ValueError as error:
        return Reference(name, None, str(error))


def check_columns(V: Any, dimension: int) -> Floats:
    """Return V as floats; ValueError unless it has a row for each variable."""
    columns = np.asarray(V, np.float64)
    if columns.ndim != 2 or len(columns) != dimension:
        raise ValueError(f"each column of V has N = {dimension} numbers, got shape {columns.shape}")
    return columns


def interpolator(problem: Problem, basis: Basis) -> Floats:
    """Return the values on the cube of the min-degree interpolator; ValueError if the span holds none."""
    if len(problem.rows) * basis.size > LARGEST_SOLVED:
        raise ValueError(f"too large: {len(problem.rows)} training points times {basis.size} elements")
    return on_cube(min_degree_interpolator(problem.points, problem.labels, basis), problem.dimension)


def on_cube(function: Callable[[Any], Any], dimension: int) -> Floats:
    """Evaluate a function of points of shape (m, N) on the whole cube, some points at a time."""
    check_memory(2 * 2**dimension, f"the 2^{dimension} values of a function")
    values = np.empty(2**dimension)
    for start in range(0, len(values), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(values)))
        values[rows] = function(points_at(rows, dimension))
    return values


def kernel_limit(problem: Problem, activation: Activation, V: Floats | None) -> Floats:
    """Return what infinitely many random features learn, for V = I (None) in closed form where all of X_N0 is seen."""
    if V is None and problem.whole:
        return closed_form(activation, problem.labels, problem.dimension).values
    V = np.eye(problem.dimension) if V is None else V
    return on_cube(kernel_interpolator(activation, V, problem.points, problem.labels), problem.dimension)


def _computed(name: str, problem: Problem) -> Reference:
    try:
        if name == "concept":
            return Reference(name, np.asarray(problem.concept.values, np.float64))
        if name == "kernel":
            return Reference(name, kernel_limit(problem, RELU, None))
        coefficients = fourier_interpolator(problem.dimension, problem.rows, problem.labels)
        return Reference(name, inverse_fourier(coefficients))
    except ValueError as error:
        return Reference(name, None, str(error))
