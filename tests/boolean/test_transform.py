"""The fast transform against Hadamard's matrix and against itself."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import hadamard

from ldhd.boolean import cube_points, fourier, inverse_fourier, walsh_hadamard
from ldhd.boolean.transform import BLOCK_ENTRIES

PRECISION = {np.float32: 1e-4, np.float64: 1e-12}


def random_values(dimension, dtype=np.float64):
    return np.random.default_rng(dimension).normal(size=2**dimension).astype(dtype)


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("dimension", range(11))
def test_transform_is_hadamards_matrix(dimension, dtype):
    values = random_values(dimension, dtype)
    transformed = values.copy()
    walsh_hadamard(transformed)
    assert transformed.dtype == dtype
    assert np.allclose(transformed, hadamard(2**dimension) @ values.astype(np.float64), atol=PRECISION[dtype] * 2**5)


@pytest.mark.parametrize("dimension", range(6))
def test_coefficients_are_inner_products_with_characters(dimension):
    values, points = random_values(dimension), cube_points(dimension)
    for index, coefficient in enumerate(fourier(values)):
        character = points[:, [k for k in range(dimension) if index >> k & 1]].prod(axis=1)
        assert coefficient == pytest.approx(np.mean(values * character))


@pytest.mark.parametrize("dimension", [0, 1, 7, 13, 16, 18])
def test_inverse_and_parseval(dimension):
    """Up to 2^18 the passes run through many blocks: 2^15 entries are one."""
    assert dimension < 16 or 2**dimension > BLOCK_ENTRIES
    values = random_values(dimension)
    coefficients = fourier(values)
    assert np.allclose(inverse_fourier(coefficients), values, atol=1e-12)
    assert np.sum(coefficients**2) == pytest.approx(np.mean(values**2))


def test_one_character_gives_one_coefficient():
    """Each variable of a large cube is transformed along its own axis."""
    dimension = 17
    for variables in [(1,), (17,), (4, 5), (1, 8, 16)]:
        index = sum(1 << (variable - 1) for variable in variables)
        coefficients = np.zeros(2**dimension)
        coefficients[index] = 1
        bits = np.arange(2**dimension)[:, None] >> (np.array(variables) - 1) & 1
        assert np.array_equal(inverse_fourier(coefficients), (-1.0) ** bits.sum(axis=1))


def test_rational_values_stay_rational():
    values = [Fraction(1, 3), 2, Fraction(-5, 7), 0]
    coefficients = fourier(np.array(values, object))
    assert coefficients[1] == (Fraction(1, 3) - 2 - Fraction(5, 7)) / 4
    assert list(inverse_fourier(coefficients)) == values


def test_input_is_left_alone_and_kept_in_kind():
    values = np.arange(8)
    assert fourier(values).dtype == np.float64
    assert np.array_equal(values, np.arange(8))
    assert fourier(values.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 2), ()])
def test_only_powers_of_two_are_transformed(shape):
    with pytest.raises(ValueError, match=r"has 2\^N values in one row, got shape"):
        fourier(np.ones(shape))


def test_in_place_needs_an_array_it_can_work_on():
    with pytest.raises(ValueError, match="float32, float64 or object, got int64"):
        walsh_hadamard(np.ones(4, int))
    with pytest.raises(ValueError, match="contiguous"):
        walsh_hadamard(np.ones(8)[::2])
