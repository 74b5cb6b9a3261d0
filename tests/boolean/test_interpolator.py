"""The min-degree interpolator against brute force, against itself in fractions, and against the paper's example."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.interpolation import coefficient_vector, problems, profile, solve_by_null_spaces
from ldhd.boolean import (
    BooleanFunction,
    FourierBasis,
    GrpeBasis,
    PlaaBasis,
    ProjectionBasis,
    cube_points,
    memory,
    min_degree_interpolator,
    rpe_matrices,
    subcube_points,
)
from ldhd.boolean.rational import pivots, to_fractions

PRINTED_V = [[0.8, 0.6], [0.6, -0.8]]


def degrees_of(basis):
    return np.array([basis.degree(key) for key in basis.keys()])  # noqa: SIM118


@given(problems())
def test_it_interpolates(problem):
    points, values, basis = problem
    interpolator = min_degree_interpolator(points, values, basis)
    assert np.allclose(interpolator(points), values.astype(float), atol=1e-9)
    matrix = basis.evaluate(points, list(basis.keys()))
    assert np.allclose(matrix @ coefficient_vector(interpolator, basis), values.astype(float), atol=1e-9)


@given(problems())
def test_an_independent_solver_finds_the_same(problem):
    points, values, basis = problem
    found = coefficient_vector(min_degree_interpolator(points, values, basis), basis)
    assert np.allclose(found, solve_by_null_spaces(points, values, basis), atol=1e-7)


@given(problems())
def test_floats_and_fractions_agree(problem):
    points, values, basis = problem
    floats = min_degree_interpolator(points, values, basis)
    fractions = min_degree_interpolator(points, values, basis, exact=True)
    assert np.array_equal(fractions(points), values)
    assert all(isinstance(value, Fraction) for value in fractions.values())
    assert np.allclose(coefficient_vector(floats, basis), coefficient_vector(fractions, basis).astype(float), atol=1e-7)
    assert np.allclose(floats.degree_profile, np.array(fractions.degree_profile, float), atol=1e-7)
    everywhere = cube_points(basis.dimension)
    assert np.allclose(floats(everywhere), fractions(everywhere).astype(float), atol=1e-7)


@given(problems(), st.integers(0, 2**32 - 1))
def test_no_other_interpolator_has_a_smaller_profile(problem, seed):
    """Every other one in the span differs by a vector on which the points' values vanish; compared in fractions."""
    points, values, basis = problem
    interpolator = min_degree_interpolator(points, values, basis, exact=True)
    degrees, best = degrees_of(basis), coefficient_vector(interpolator, basis)
    matrix = basis.evaluate(points, list(basis.keys()), exact=True)
    assert np.all(matrix @ best == values)
    assert list(interpolator.degree_profile) == profile(best, degrees)
    _, _, invisible = pivots(matrix.T, to_fractions(np.eye(basis.size, dtype=int)))
    generator = np.random.default_rng(seed)
    for trial in range(15 if len(invisible) else 0):
        weights = generator.integers(-3, 4, size=len(invisible)) * (generator.random(len(invisible)) < 0.5)
        change = to_fractions(weights / 2**trial) @ invisible
        assert not np.any(matrix @ change)
        assert profile(best + change, degrees) > profile(best, degrees) or not np.any(change)


class TestExampleThree:
    """4 x_1 + 3 x_2, trained on X_1."""

    points = subcube_points(2, 1)
    values = (7, -1)

    def test_fourier(self):
        """It is 4 x_1 + 3, not 4 x_1 as printed."""
        interpolator = min_degree_interpolator(self.points, self.values, FourierBasis(2))
        assert dict(interpolator) == {(): 3.0, (1,): 4.0}
        assert interpolator.degree_profile == (0.0, 16.0, 9.0)

    @pytest.mark.parametrize("exact", [False, True])
    def test_the_printed_projection(self, exact):
        """It is 4 x_1 + 3 again, not the target as printed."""
        fractions = [[Fraction(round(10 * entry), 10) for entry in row] for row in PRINTED_V]
        basis = ProjectionBasis(fractions)
        interpolator = min_degree_interpolator(self.points, self.values, basis, exact)
        x = cube_points(2)
        assert np.allclose(interpolator(x).astype(float), 4 * x[:, 0] + 3, atol=1e-12)
        expected = {(): 3, (1,): Fraction(16, 5), (2,): Fraction(12, 5), (1, 2): 0}
        for key, value in expected.items():
            assert interpolator[key] == (value if exact else pytest.approx(float(value), abs=1e-12))

    def test_a_single_projection(self):
        """With V = [0.8, 0.6]^T it is the target."""
        interpolator = min_degree_interpolator(self.points, self.values, ProjectionBasis([[0.8], [0.6]]))
        assert interpolator[(1,)] == pytest.approx(5)
        assert np.allclose(interpolator(cube_points(2)), [7, -1, 1, -7])
        assert interpolator.degree_profile == pytest.approx((25, 0))


def test_grpe_generalises_from_a_subcube_where_plaa_does_not():
    """RPE shares the diagonal: seen on X_2, known on X_4. PLAA has one coefficient an entry, unseen ones stay 0."""
    points, everywhere = subcube_points(4, 2), cube_points(4)
    rpe, plaa = GrpeBasis(rpe_matrices(4)), PlaaBasis(4)
    target = {1: 2.0, 2: -1.0}
    shared = min_degree_interpolator(points, rpe.combine(target, points), rpe)
    assert np.allclose(shared(everywhere), rpe.combine(target, everywhere))
    separate = min_degree_interpolator(points, rpe.combine(target, points), plaa)
    assert all(separate[(i, j)] == pytest.approx(0, abs=1e-12) for i, j in plaa.layer(1) + plaa.layer(2))
    assert not np.allclose(separate(everywhere), rpe.combine(target, everywhere))


@pytest.mark.parametrize("angle", [0.1, 0.3, 0.7, 1.2])
def test_a_degree_that_adds_nothing_gets_nothing(angle):
    """V sees x_1 and x_2 only, and these take two values: the product adds rounding, which must not count as rank."""
    V = np.zeros((5, 2))
    V[:2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    points = cube_points(5)[cube_points(5)[:, 1] == 1]
    interpolator = min_degree_interpolator(points, 4 * points[:, 0] + 3, ProjectionBasis(V))
    assert interpolator[(1, 2)] == pytest.approx(0, abs=1e-9)
    assert interpolator.degree_profile == pytest.approx((0, 16, 9))


def test_lower_degrees_come_first():
    """Both b_12 and b_22 reach the only point, with n(x) = 2; the lower degree, that of b_22, takes all."""
    interpolator = min_degree_interpolator([[1, -1]], [1], PlaaBasis(2))
    assert (interpolator[(2, 2)], interpolator[(1, 2)]) == (pytest.approx(-1), pytest.approx(0))


def test_many_variables_and_few_points():
    """Nothing of size 2^100 is needed where low degrees suffice."""
    points = np.ones((3, 100))
    points[1, 0] = points[2, 99] = -1
    interpolator = min_degree_interpolator(points, [7, -1, 3], FourierBasis(100))
    assert interpolator(points) == pytest.approx([7, -1, 3])
    assert interpolator[(1,)] == pytest.approx(4)
    assert interpolator[(5, 6, 7)] == 0
    assert len(interpolator.degree_profile) == 101
    with pytest.raises(KeyError):
        interpolator[(7, 6)]


def test_a_subcube_of_many_variables():
    points = np.ones((4, 200))
    points[[1, 3], 150] = points[[2, 3], 7] = -1
    interpolator = min_degree_interpolator(points, [1, 2, 3, 5], FourierBasis(200), exact=True)
    assert interpolator == {
        (): Fraction(11, 4),
        (8,): Fraction(-5, 4),
        (151,): Fraction(-3, 4),
        (8, 151): Fraction(1, 4),
    }


def test_the_whole_cube_leaves_no_choice():
    f = BooleanFunction(np.random.default_rng(0).normal(size=2**12))
    interpolator = min_degree_interpolator(cube_points(12), f.values, FourierBasis(12))
    assert np.allclose(interpolator.coefficients.array, f.fourier.array)


class TestRefusals:
    fourier = FourierBasis(2)

    @pytest.mark.parametrize("exact", [False, True])
    @pytest.mark.parametrize(
        ("points", "values", "message"),
        [
            (np.ones((0, 2)), [], "there are no points to interpolate"),
            ([[1, 1], [1, 1]], [1, 2], r"point \[1, 1\] is given two values, 1.* and 2"),
            ([[1, 2]], [1], "coordinates are -1 or 1, got 2 as x_2 of point 0"),
            ([[1, 1, 1]], [1], "points have 3 coordinates, the cube has N = 2"),
            ([1, 1], [1], r"points are an array of shape \(m, N\)"),
            ([[1, 1]], [1, 2], r"one value a point, got shape \(2,\) for 1 points"),
            ([[1, 1]], [float("nan")], "finite number"),
            ([[1, 1]], [float("inf")], "finite number"),
        ],
    )
    def test_bad_points_and_values(self, points, values, message, exact):
        with pytest.raises(ValueError, match=message):
            min_degree_interpolator(points, values, self.fourier, exact)

    @pytest.mark.parametrize("exact", [False, True])
    def test_no_interpolator_in_the_span(self, exact):
        with pytest.raises(ValueError, match="no interpolator exists in the span of the basis"):
            min_degree_interpolator([[1, 1], [-1, 1]], [1, 1], PlaaBasis(2), exact)

    def test_too_many_values_for_the_memory(self, monkeypatch):
        """With one MiB: the characters of degree 3 are too many, and are not made."""
        monkeypatch.setattr(memory, "memory_limit", lambda: 2**20)
        points = cube_points(12)[np.random.default_rng(0).choice(2**12, size=300, replace=False)]
        with pytest.raises(ValueError, match="all elements up to degree 3 at 300 points would need"):
            min_degree_interpolator(points, np.ones(300), FourierBasis(12))

    @pytest.mark.parametrize("exact", [False, True])
    def test_equal_values_at_repeated_points_are_welcome(self, exact):
        once = min_degree_interpolator([[1, 1], [-1, -1]], [1, 2], self.fourier, exact)
        often = min_degree_interpolator([[1, 1], [-1, -1], [1, 1], [-1, -1]], [1, 2, 1, 2], self.fourier, exact)
        assert dict(once) == dict(often)

    def test_values_of_zero(self):
        interpolator = min_degree_interpolator([[1, 1], [-1, 1], [1, -1]], [0, 0, 0], self.fourier)
        assert interpolator.degree_profile == (0, 0, 0)
