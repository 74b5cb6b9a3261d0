"""Functions by their values: coefficients, degree, variables."""

from fractions import Fraction

import numpy as np
import pytest

from ldhd.boolean import BooleanFunction, FourierBasis, cube_points


def example():
    """Example 3 of the paper."""
    return BooleanFunction.of(lambda x: 4 * x[:, 0] + 3 * x[:, 1], 2)


def test_example_three():
    f = example()
    assert f.values.tolist() == [7, -1, 1, -7]
    assert dict(f.fourier) == {(): 0.0, (1,): 4.0, (2,): 3.0, (1, 2): 0.0}
    assert (f.degree, f.influential) == (1, (1, 2))


def test_coefficients_build_the_function_again():
    coefficients = {(): 1.5, (2,): -2.0, (1, 3, 4): 0.25}
    f = BooleanFunction.from_fourier(coefficients, 5)
    assert {key: value for key, value in f.fourier.items() if value} == coefficients
    x = cube_points(5)
    assert np.array_equal(f(x), 1.5 - 2 * x[:, 1] + 0.25 * x[:, 0] * x[:, 2] * x[:, 3])
    assert (f.degree, f.influential) == (3, (1, 2, 3, 4))


def test_degree_is_that_on_the_cube():
    """x_1 x_1 = 1, and rounding does not make it anything else."""
    assert BooleanFunction.of(lambda x: x[:, 0] * x[:, 0], 3).degree == 0
    assert BooleanFunction.of(lambda x: x[:, 0] ** 3 * x[:, 1], 3).degree == 2
    noisy = BooleanFunction.of(lambda x: 1 + 1e-16 * x.prod(axis=1), 3)
    assert (noisy.degree, noisy.influential) == (0, ())
    assert BooleanFunction(np.zeros(8)).degree == 0


def test_degree_counts_what_is_small_but_there():
    f = BooleanFunction.of(lambda x: 1 + 1e-6 * x[:, 2], 3)
    assert (f.degree, f.influential) == (1, (3,))


def test_parity_depends_on_everything():
    f = BooleanFunction.of(lambda x: x.prod(axis=1), 15)
    assert f.degree == len(f.influential) == 15


def test_dimension_zero_is_a_constant():
    f = BooleanFunction([5])
    assert (f.dimension, f.degree, f.influential, dict(f.fourier)) == (0, 0, (), {(): 5.0})


def test_values_cannot_be_changed_and_are_copied():
    values = np.ones(4)
    f = BooleanFunction(values)
    values[0] = 9
    assert f.values[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        f.values[0] = 2


def test_fractions_and_single_precision_are_kept():
    f = BooleanFunction([Fraction(1, 3), Fraction(2, 3)])
    assert f.fourier[(1,)] == Fraction(-1, 6)
    assert (f.degree, f.influential) == (1, (1,))
    assert BooleanFunction(np.ones(4, np.float32)).fourier.array.dtype == np.float32


@pytest.mark.parametrize("key", [(2, 1), (1, 1), (0,), (3,), 1, "x", (1.5,)])
def test_keys_are_rising_tuples(key):
    with pytest.raises(KeyError, match="no rising tuple of the variables"):
        example().fourier[key]
    with pytest.raises(KeyError, match=r"no rising tuple of 1 \.\. 2"):
        FourierBasis(2).degree(key)
    with pytest.raises(ValueError, match="no rising tuple"):
        BooleanFunction.from_fourier({key: 1.0}, 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2, 3], r"2\^N values in one row, got shape \(3,\)"),
        ([], "got shape"),
        ([1, float("nan")], "values are finite numbers, got nan"),
        ([1, float("-inf")], "got -inf"),
        (np.array([1, "a"], object), "'a' is no finite number"),
    ],
)
def test_what_is_no_function_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        BooleanFunction(values)


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match=r"one value a point, got shape \(8, 3\) for 8"):
        BooleanFunction.of(lambda x: x, 3)
    with pytest.raises(ValueError, match="points have 3 coordinates, the cube has N = 2"):
        example()([[1, 1, 1]])
    with pytest.raises(ValueError, match=r"the 50 coordinates of 2\^50 points would need"):
        BooleanFunction.of(lambda x: x[:, 0], 50)
    with pytest.raises(ValueError, match=r"the 2\^50 values of a function would need"):
        BooleanFunction.from_fourier({}, 50)
