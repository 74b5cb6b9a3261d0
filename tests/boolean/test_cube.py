"""Points, their indices and their scales."""

import numpy as np
import pytest

from ldhd.boolean import cube_points, point_indices, scale, subcube_points
from ldhd.boolean.cube import check_points, points_at


def test_index_has_bit_k_where_the_next_variable_is_minus_one():
    assert cube_points(2).tolist() == [[1, 1], [-1, 1], [1, -1], [-1, -1]]
    for index, point in enumerate(cube_points(5)):
        assert index == sum(2**k * (1 - int(x)) // 2 for k, x in enumerate(point))


@pytest.mark.parametrize("dimension", [0, 1, 3, 6])
def test_points_and_indices_are_inverse(dimension):
    points = cube_points(dimension)
    indices = np.arange(2**dimension)
    assert np.array_equal(point_indices(points), indices)
    assert np.array_equal(points_at(indices, dimension), points)


def test_subcube_is_the_first_indices_and_the_small_scales():
    for n in range(6):
        points = subcube_points(5, n)
        assert points.shape == (2**n, 5)
        assert np.array_equal(point_indices(points), np.arange(2**n))
        assert np.all(points[:, n:] == 1)
        assert np.array_equal(points, cube_points(5)[scale(cube_points(5)) <= n])


def test_scale_is_the_last_minus_one():
    assert scale([[1, -1, 1], [1, 1, 1], [-1, 1, -1]]).tolist() == [2, 0, 3]
    assert scale(np.ones((2, 0))).tolist() == [0, 0]


def test_points_at_any_dimension():
    assert scale(-np.ones((1, 200))).tolist() == [200]
    with pytest.raises(ValueError, match="indices are for N <= 62, got N = 200"):
        point_indices(-np.ones((1, 200), np.int8))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[1, 0]], "coordinates are -1 or 1, got 0 as x_2 of point 0"),
        ([[1, 1], [float("nan"), 1]], "got nan as x_1 of point 1"),
        ([1, -1], r"shape \(m, N\), one row a point, got shape \(2,\)"),
        ([[1, 1, 1]], "points have 3 coordinates, the cube has N = 2"),
        ([["a", "b"]], "got a as x_1"),
    ],
)
def test_what_is_no_point_is_refused(points, message):
    with pytest.raises(ValueError, match=message):
        check_points(points, 2)


@pytest.mark.parametrize("dimension", [-1, 2.0, "3", True])
def test_what_is_no_dimension_is_refused(dimension):
    with pytest.raises(ValueError, match="N is a whole number from 0 up"):
        cube_points(dimension)


def test_too_many_points_are_refused():
    with pytest.raises(ValueError, match=r"60 coordinates of 2\^60 points would need"):
        cube_points(60)
    with pytest.raises(ValueError, match=r"n = 0 \.\. N = 3, got n = 4"):
        subcube_points(3, 4)
