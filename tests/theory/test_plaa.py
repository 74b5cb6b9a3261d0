"""PLAA and its embeddings, trained, against exact interpolators and closed forms."""

import numpy as np
import pytest

from ldhd.boolean import GrpeBasis, PlaaBasis, cube_points, min_degree_interpolator, rpe_matrices, subcube_points
from ldhd.theory.ape import ape_can_fit, ape_error, ape_gradient, train_ape
from ldhd.theory.grpe import grpe_descent, grpe_flow, grpe_generalises, grpe_rates, train_grpe
from ldhd.theory.plaa import low_dimensional_part, plaa, plaa_loss, q_matrix

NEGATIVE = [[-1.0, 0.0], [0.0, 0.0]]
INDEFINITE = [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def positive_definite(dimension, seed=0):
    factor = np.random.default_rng(seed).normal(size=(dimension, dimension))
    return np.triu(factor.T @ factor / dimension + np.eye(dimension))


def blocks(dimension):
    """The triangle in two: the rows 1 and 2 share a parameter, the others have one too."""
    upper = np.triu(np.ones((dimension, dimension)))
    U = np.array([upper * (np.arange(dimension) < 2)[:, None], upper * (np.arange(dimension) >= 2)[:, None]])
    return U / np.linalg.norm(U, axis=(1, 2), keepdims=True)


def interpolator(U, p, scale):
    basis, points = GrpeBasis(U), subcube_points(len(U[0]), scale)
    values = basis.evaluate(points, list(range(1, len(U) + 1))) @ p
    coefficients = min_degree_interpolator(points, values, basis)
    return np.array([coefficients[k] for k in range(1, len(U) + 1)])


class TestPlaa:
    def test_is_the_definition(self):
        """Worked by hand: n(1, -1, 1) = 2, so x^T A e_2 = A_12 - A_22; all ones give 0."""
        A = [[1.0, 2.0, 3.0], [0.0, 4.0, 5.0], [0.0, 0.0, 6.0]]
        assert plaa([[1, -1, 1], [1, 1, 1], [-1, 1, -1]], A).tolist() == [-2.0, 0.0, -4.0]

    def test_is_the_basis(self):
        A = np.triu(np.random.default_rng(0).normal(size=(4, 4)))
        basis = PlaaBasis(4)
        coefficients = {(i, j): A[i - 1, j - 1] for i, j in basis.keys()}  # noqa: SIM118
        assert np.allclose(plaa(cube_points(4), A), basis.combine(coefficients, cube_points(4)))

    @pytest.mark.parametrize("scale", [0, 1, 3, 5])
    def test_loss_is_the_norm_weighted_with_q(self, scale):
        A, A_star = (np.triu(matrix) for matrix in np.random.default_rng(scale).normal(size=(2, 5, 5)))
        expected = np.sum((q_matrix(5, scale) * (A - A_star)) ** 2) / 2
        assert plaa_loss(A, A_star, scale) == pytest.approx(expected, rel=1e-12, abs=1e-15)

    def test_q_is_the_printed_matrix(self):
        half = 2**-0.5
        assert np.allclose(q_matrix(3, 2), [[0.5, half, 0.0], [0.0, half, 0.0], [0.0, 0.0, 0.0]])


class TestApe:
    def test_gradient_is_the_slope_of_the_loss(self):
        P, A_star, h = np.random.default_rng(1).normal(size=(4, 4)), positive_definite(4), 1e-6
        gradient = ape_gradient(P, A_star, 3)
        for row, column in np.ndindex(P.shape):
            shift = np.zeros_like(P)
            shift[row, column] = h
            losses = [plaa_loss(np.triu(Q.T @ Q), A_star, 3) for Q in (P + shift, P - shift)]
            assert (losses[0] - losses[1]) / (2 * h) == pytest.approx(gradient[row, column], abs=1e-7)

    @pytest.mark.parametrize("flow", [False, True])
    @pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-6])
    def test_distance_is_exactly_as_stated(self, flow, alpha):
        dimension, scale = 5, 2
        A_star = positive_definite(dimension)
        model = train_ape(A_star, scale, alpha, flow)
        assert model.loss < 1e-18
        assert ape_error(model.attention, A_star, scale) == pytest.approx(np.sqrt(dimension - scale) * alpha, abs=1e-9)

    def test_small_initialisation_is_the_min_degree_interpolator(self):
        A_star, points = positive_definite(4), subcube_points(4, 2)
        g = min_degree_interpolator(points, plaa(points, A_star), PlaaBasis(4))
        limit = low_dimensional_part(A_star, 2)
        assert np.allclose([limit[i, j] - g[(i + 1, j + 1)] for i in range(4) for j in range(i, 4)], 0)
        attention = train_ape(A_star, 2, 1e-9).attention
        assert np.allclose(plaa(cube_points(4), attention), g(cube_points(4)), atol=1e-7)

    def test_every_entry_beyond_the_training_scale_vanishes(self):
        """Not only those with i > N0: the target has A*_14 != 0, the model has not."""
        A_star = positive_definite(4)
        attention = train_ape(A_star, 2, 1e-3).attention
        assert abs(A_star[0, 3]) > 0.01
        assert np.allclose(attention[:, 2:], np.diag([1e-3] * 4)[:, 2:], atol=1e-15)

    @pytest.mark.parametrize(("A_star", "scale"), [(NEGATIVE, 1), (INDEFINITE, 2)])
    def test_loss_has_a_floor_without_a_semidefinite_completion(self, A_star, scale):
        assert not ape_can_fit(A_star, scale)
        model = train_ape(A_star, scale, 1e-3)
        assert model.gradient < 1e-10
        assert model.loss > 0.1

    def test_floor_by_hand(self):
        """p^2 = -1 is missed by 1 at half of the points: loss 1/4."""
        assert train_ape(NEGATIVE, 1, 1e-3).loss == pytest.approx(0.25, abs=1e-12)

    def test_completion(self):
        assert ape_can_fit(INDEFINITE, 1)
        assert ape_can_fit(np.triu(np.ones((3, 3))), 3)  # on the boundary


class TestGrpe:
    @pytest.mark.parametrize("U", [rpe_matrices(6), blocks(4)], ids=["rpe", "blocks"])
    @pytest.mark.parametrize("scale", [1, 2, 4])
    def test_trained_is_the_min_degree_interpolator(self, U, scale):
        p = np.random.default_rng(2).normal(size=len(U))
        trained = train_grpe(U, p, scale, 1.0, 3000)[-1]
        assert np.allclose(trained, interpolator(U, p, scale), rtol=0, atol=1e-8)
        assert np.allclose(trained, np.where(grpe_rates(U, scale) > 0, p, 0), rtol=0, atol=1e-8)

    def test_dynamics(self):
        U, p = rpe_matrices(6), np.random.default_rng(3).normal(size=6)
        path = train_grpe(U, p, 3, 0.7, 50)
        assert np.allclose(path, grpe_descent(U, p, 3, 0.7, np.arange(51)), rtol=0, atol=1e-13)

    def test_small_steps_tend_to_the_flow(self):
        U, p = rpe_matrices(5), np.ones(5)
        gaps = [
            np.max(np.abs(train_grpe(U, p, 3, rate, round(2 / rate))[-1] - grpe_flow(U, p, 3, [2.0])[0]))
            for rate in (1e-2, 5e-3)
        ]
        assert gaps[0] < 1e-3
        assert gaps[1] / gaps[0] == pytest.approx(0.5, abs=0.01)

    def test_diagonals_are_rpe(self):
        """A_ij = p_{j-i+1} / sqrt(N - (j - i)): one parameter a distance."""
        U, p = rpe_matrices(4), np.array([1.0, 2.0, 3.0, 4.0])
        A = np.tensordot(train_grpe(U, p, 4, 1.0, 2000)[-1], U, axes=1)
        expected = [[p[j - i] / np.sqrt(4 - (j - i)) if j >= i else 0.0 for j in range(4)] for i in range(4)]
        assert np.allclose(A, expected, atol=1e-8)

    def test_single_entries_are_plaa(self):
        U = np.array([np.outer(np.eye(3)[i], np.eye(3)[j]) for j in range(3) for i in range(j + 1)])
        limit = grpe_flow(U, np.arange(1.0, 7.0), 2, 1e6)
        assert np.allclose(np.tensordot(limit, U, axes=1), [[1, 2, 0], [0, 3, 0], [0] * 3])

    def test_rates(self):
        assert np.allclose(grpe_rates(rpe_matrices(3), 2), [(1 / 4 + 1 / 2) / 3, 1 / 4, 0.0])

    @pytest.mark.parametrize(
        ("c", "scale", "expected"),
        [([1, 2, 0, 0], 2, True), ([1, 2, 3, 0], 2, False), ([0, 0, 0, 1], 4, True), ([0, 0, 0, 0], 1, True)],
    )
    def test_generalises(self, c, scale, expected):
        U = rpe_matrices(4)
        assert grpe_generalises(U, c, scale) is expected
        values = [plaa(cube_points(4), np.tensordot(p, U, axes=1)) for p in (interpolator(U, c, scale), c)]
        assert np.allclose(*values) is expected


class TestBadInput:
    def test_matrices(self):
        with pytest.raises(ValueError, match=r"<U_1, U_1> must be 1, got 2"):
            train_grpe([np.eye(2)], [1.0], 1, 1.0, 5)

    @pytest.mark.parametrize("scale", [-1, 4])
    def test_scales(self, scale):
        for call in (
            lambda: q_matrix(3, scale),
            lambda: low_dimensional_part(np.eye(3), scale),
            lambda: grpe_flow(rpe_matrices(3), np.ones(3), scale, [1.0]),
            lambda: grpe_generalises(rpe_matrices(3), np.ones(3), scale),
        ):
            with pytest.raises(ValueError, match=f"N0 = 0 .. N = 3, got N0 = {scale}"):
                call()

    def test_numbers(self):
        with pytest.raises(ValueError, match=r"each of 3 matrices U_k, got shape \(2,\)"):
            grpe_generalises(rpe_matrices(3), [1.0, 2.0], 1)
        with pytest.raises(RuntimeError, match="after 3 steps"):
            train_ape(np.eye(2), 1, 0.1, flow=True, max_steps=3)
