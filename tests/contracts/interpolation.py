"""Random interpolation problems, and an independent solution of them."""

import numpy as np
from hypothesis import strategies as st
from scipy.linalg import null_space

from ldhd.boolean import FourierBasis, GrpeBasis, PlaaBasis, ProjectionBasis, cube_points
from ldhd.boolean.rational import to_fractions


def random_grpe_basis(dimension, generator):
    """Signed diagonals and their pieces, so that all entries are equal in size within a matrix."""
    owner = np.triu(generator.integers(1, 4, size=(dimension, dimension)))
    U = np.array([owner == k for k in np.unique(owner[owner > 0])], float)
    U *= generator.choice([-1.0, 1.0], size=U.shape)
    return GrpeBasis(U / np.sqrt((U**2).sum(axis=(1, 2)))[:, None, None])


def random_projection_basis(dimension, generator):
    columns = int(generator.integers(1, dimension + 1))
    return ProjectionBasis(np.linalg.qr(generator.normal(size=(dimension, columns)))[0])


BASES = {
    "fourier": lambda dimension, generator: FourierBasis(dimension),
    "plaa": lambda dimension, generator: PlaaBasis(dimension),
    "grpe": random_grpe_basis,
    "projection": random_projection_basis,
}


@st.composite
def problems(draw):
    """(points, values, basis): points of a small cube, some of them repeated, and values that the span can take.

    The values are fractions, so that rounding does not move them out of the span.
    """
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dimension = draw(st.integers(1, 4))
    basis = BASES[draw(st.sampled_from(sorted(BASES)))](dimension, generator)
    chosen = generator.integers(0, 2**dimension, size=draw(st.integers(1, 2**dimension + 2)))
    points = cube_points(dimension)[chosen]
    keys = list(basis.keys())
    values = basis.evaluate(points, keys, exact=True) @ to_fractions(generator.integers(-3, 4, size=len(keys)))
    return points, values, basis


def coefficient_vector(interpolator, basis):
    return np.array([interpolator[key] for key in basis.keys()])  # noqa: SIM118


def profile(coefficients, degrees):
    """The definition: sums of squares, top degree first."""
    return [sum(coefficients[degrees == degree] ** 2) for degree in range(max(degrees), -1, -1)]


def solve_by_null_spaces(points, values, basis):
    """All solutions of M a = y are a + Z t; shorten the top degree by choice of t, keep what freedom is left, go on."""
    keys = list(basis.keys())
    degrees = np.array([basis.degree(key) for key in keys])
    matrix = basis.evaluate(points, keys)
    solution = np.linalg.lstsq(matrix, values.astype(float), rcond=1e-10)[0]
    freedom = null_space(matrix, rcond=1e-10)
    for degree in range(max(degrees), -1, -1):
        part = freedom[degrees == degree]
        if not part.size:
            continue
        # Absolute cut-off: the columns of `freedom` are orthonormal.
        left, singular, right = np.linalg.svd(part)
        rank = int(np.sum(singular > 1e-9))
        step = right[:rank].T @ ((left[:, :rank].T @ solution[degrees == degree]) / singular[:rank])
        solution = solution - freedom @ step
        freedom = freedom @ right[rank:].T
    return solution
