"""Sampled, infinitely wide and closed-form random feature models agree, as far as each says it does."""

import numpy as np
import pytest

from ldhd.boolean import cube_points, fourier, subcube_points
from ldhd.theory.feature_kernel import LINEAR, RELU, SHIFTED_SINE, feature_kernel, kernel_interpolator
from ldhd.theory.feature_spectrum import closed_form, decay_slope, feature_spectrum, retained_share
from ldhd.theory.random_features import minimum_norm, sample_features, sampling_error

ACTIVATIONS = [RELU, SHIFTED_SINE, LINEAR]
VALUES = np.array([1.0, -0.5, 2.0, 0.7])


def orthonormal(dimension, columns, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension, columns)))[0]


def root_mean_square(values):
    return np.sqrt(np.mean(np.square(values)))


class TestKernel:
    @pytest.mark.parametrize("activation", [SHIFTED_SINE, LINEAR], ids=lambda a: a.name)
    @pytest.mark.parametrize(("p", "q", "c"), [(1.2, 1.2, 1.2), (1.0, 0.7, -0.3), (2.0, 0.5, 0.0)])
    def test_formulas_agree_with_quadrature(self, activation, p, q, c):
        """Gauss-Hermite in a and in what a does not explain of b."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(100)
        weights /= np.sum(weights)
        rest = np.sqrt(max(q - c**2 / p, 0)) * nodes
        given_a = activation.function(c / np.sqrt(p) * nodes[:, None] + rest) @ weights
        expected = (weights * activation.function(np.sqrt(p) * nodes)) @ given_a
        assert activation.mean_product(*np.array([p, q, c])) == pytest.approx(expected, rel=1e-10)

    def test_relu_at_known_correlations(self):
        """E[relu(a)^2] = p / 2, independent: (E relu)^2 = sqrt(pq) / 2 pi, opposite: 0."""
        p = np.full(3, 1.5)
        found = RELU.mean_product(p, p, np.array([1.5, 0.0, -1.5]))
        assert np.allclose(found, [0.75, 1.5 / (2 * np.pi), 0.0], atol=1e-15)

    @pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: a.name)
    def test_is_the_mean_over_features(self, activation):
        V, points = orthonormal(4, 2), cube_points(4)
        features = sample_features(activation, V, 200_000, np.random.default_rng(1))(points)
        kernel = feature_kernel(activation, V, points, points)
        assert np.allclose(features @ features.T, kernel, atol=0.15 * np.max(kernel))
        assert np.allclose(np.mean(features @ features.T - kernel), 0, atol=0.02 * np.max(kernel))

    def test_depends_on_the_projection_only_through_its_square(self):
        points, V = cube_points(4), orthonormal(4, 2)
        rotation = orthonormal(2, 2, seed=5)
        kernels = [feature_kernel(SHIFTED_SINE, W, points, points) for W in (V, V @ rotation)]
        assert np.allclose(*kernels, atol=1e-12)

    def test_square_projection_is_the_plain_model(self):
        points, values = subcube_points(4, 2), VALUES
        solutions = [
            kernel_interpolator(RELU, V, points, values)(cube_points(4)) for V in (np.eye(4), orthonormal(4, 4))
        ]
        assert np.allclose(*solutions, atol=1e-10)

    def test_interpolates(self):
        points = subcube_points(5, 2)
        assert np.allclose(kernel_interpolator(RELU, np.eye(5), points, VALUES)(points), VALUES, atol=1e-10)


class TestSpectrum:
    @pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: a.name)
    def test_is_the_fourier_transform_of_the_kernel(self, activation):
        points = cube_points(5)
        kernel = feature_kernel(activation, np.eye(5), points, points[:1])[:, 0]
        expected = feature_spectrum(activation, 5)[(points < 0).sum(axis=1)]
        assert np.allclose(fourier(kernel), expected, atol=1e-13 * kernel[0])

    def test_linear_features_end_at_degree_one(self):
        assert np.flatnonzero(feature_spectrum(LINEAR, 6)).tolist() == [0, 1]

    @pytest.mark.parametrize("degree", [1, 2, 3, 4])
    def test_strongly_expressive(self, degree):
        assert decay_slope(SHIFTED_SINE, degree, 128) == pytest.approx(-degree, abs=0.06)

    def test_relu_is_not_beyond_degree_2(self):
        assert decay_slope(RELU, 2, 128) == pytest.approx(-2, abs=0.05)
        assert decay_slope(RELU, 3, 128) == pytest.approx(-4, abs=0.05)


class TestClosedForm:
    @pytest.mark.parametrize("activation", [RELU, SHIFTED_SINE], ids=lambda a: a.name)
    def test_is_the_kernel_solution(self, activation):
        values = np.random.default_rng(2).normal(size=8)
        solution = kernel_interpolator(activation, np.eye(5), subcube_points(5, 3), values)
        assert np.allclose(closed_form(activation, values, 5).values, solution(cube_points(5)), atol=1e-9)

    def test_share_is_the_printed_sum(self):
        J = feature_spectrum(RELU, 5)
        expected = J[1] / (J[1] + 3 * J[2] + 3 * J[3] + J[4])
        assert retained_share(RELU, 1, 5, 2) == pytest.approx(expected, rel=1e-12)
        assert closed_form(RELU, [1.0, -1.0, 1.0, -1.0], 5).fourier[(1,)] == pytest.approx(expected, rel=1e-12)

    def test_min_degree_only_if_few_variables_are_added(self):
        fixed_gap = [1 - retained_share(SHIFTED_SINE, 1, n, n - 2) for n in (64, 128, 256)]
        assert fixed_gap[1] / fixed_gap[0] == pytest.approx(0.5, abs=0.05)
        assert fixed_gap[2] / fixed_gap[1] == pytest.approx(0.5, abs=0.05)
        assert retained_share(SHIFTED_SINE, 1, 256, 2) < 0.25

    def test_nothing_leaks_if_nothing_is_added(self):
        assert np.allclose(closed_form(RELU, VALUES, 2).values, VALUES)


class TestSampledFeatures:
    def test_descent_converges_to_the_minimum_norm(self):
        points = subcube_points(4, 2)
        features = sample_features(RELU, np.eye(4), 500, np.random.default_rng(3))
        matrix, a = features(points), np.zeros(500)
        step = len(points) / np.linalg.eigvalsh(matrix @ matrix.T)[-1]
        for _ in range(20_000):
            a -= step * matrix.T @ (matrix @ a - VALUES) / len(points)
        assert np.allclose(matrix @ a, VALUES, atol=1e-8)
        assert np.allclose(minimum_norm(features, points, VALUES), a, atol=1e-8)

    def test_identity_projection_is_the_plain_model(self):
        """sigma(<w, x> + b) / sqrt(K), one point and feature after the other."""
        features = sample_features(RELU, np.eye(3), 4, np.random.default_rng(5))
        points = cube_points(3)
        pairs = zip(features.weights, features.biases, strict=True)
        expected = [[max(w @ x + b, 0) / 2 for x in points] for w, b in pairs]
        assert np.allclose(features(points).T, expected)

    def test_error_is_as_stated_and_shrinks_with_the_square_root(self):
        points, cube, V = subcube_points(4, 2), cube_points(4), np.eye(4)
        generator = np.random.default_rng(6)
        limit = kernel_interpolator(RELU, V, points, VALUES)(cube)
        stated = sampling_error(RELU, V, points, VALUES, cube, generator)
        measured = []
        for count in (2**10, 2**12, 2**14):
            sampled = [sample_features(RELU, V, count, generator) for _ in range(40)]
            found = [features(cube) @ minimum_norm(features, points, VALUES) for features in sampled]
            errors = [root_mean_square(one - limit) for one in found]
            assert max(errors) < stated.bound(count)
            assert root_mean_square(errors) == pytest.approx(stated.typical(count), rel=0.25)
            measured.append(root_mean_square(errors))
        assert np.polyfit(np.log([2**10, 2**12, 2**14]), np.log(measured), 1)[0] == pytest.approx(-0.5, abs=0.1)

    def test_bound_shrinks_with_the_square_root_and_knows_its_limits(self):
        stated = sampling_error(
            RELU, np.eye(3), subcube_points(3, 1), [1.0, 0.0], cube_points(3), np.random.default_rng(7)
        )
        assert stated.bound(1) == np.inf
        assert stated.bound(4 * 10**9) == pytest.approx(stated.bound(10**9) / 2, rel=1e-3)


class TestBadInput:
    def test_projection(self):
        with pytest.raises(ValueError, match=r"V\^T V must be the identity, but <v_1, v_1> = 2"):
            sample_features(RELU, [[1.0], [1.0]], 3, np.random.default_rng(0))
        with pytest.raises(ValueError, match=r"got shape \(2,\)"):
            kernel_interpolator(RELU, [1.0, 0.0], [[1, 1]], [1.0])

    def test_values_out_of_reach(self):
        """Both points have the same projection."""
        with pytest.raises(ValueError, match="relu features cannot take these values"):
            kernel_interpolator(RELU, [[1.0], [0.0]], [[1, 1], [1, -1]], [1.0, 2.0])

    def test_too_large_for_memory(self):
        with pytest.raises(ValueError, match="a function of 60 variables would need"):
            closed_form(RELU, VALUES, 60)
        points = np.broadcast_to(np.ones(1), (10**7, 1))
        with pytest.raises(ValueError, match="the kernel of 10000000 x 10000000 points would need"):
            feature_kernel(RELU, [[1.0]], points, points)
