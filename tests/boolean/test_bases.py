"""Every basis fulfils the contract, and each is what the paper prints."""

from fractions import Fraction

import numpy as np
import pytest

from contracts.basis import BasisContract
from ldhd.boolean import (
    BooleanFunction,
    FourierBasis,
    GrpeBasis,
    PlaaBasis,
    ProjectionBasis,
    cube_points,
    rpe_matrices,
    scale,
)

PRINTED_V = [[0.8, 0.6], [0.6, -0.8]]


def orthonormal(dimension, columns, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension, columns)))[0]


def printed_plaa(i, j, x):
    """b_ij as printed in Theorem 3."""
    rest = (1 - x[:, j - 1]) / 2 * np.prod((1 + x[:, j:]) / 2, axis=1)
    return -rest if i == j else x[:, i - 1] * rest


def attention(A, x):
    """x^T A e_{n(x)}, e_0 = 0, one point after the other (Definition 5)."""
    scales = [max([k + 1 for k in range(len(point)) if point[k] == -1], default=0) for point in x]
    return np.array([point @ A[:, n - 1] if n else 0.0 for point, n in zip(x, scales, strict=True)])


class TestFourier(BasisContract):
    def make(self):
        return FourierBasis(4)

    def test_elements_are_products_of_variables(self):
        x = cube_points(3)
        values = FourierBasis(3).evaluate(x, [(), (1,), (2, 3), (1, 2, 3)])
        expected = [np.ones(8), x[:, 0], x[:, 1] * x[:, 2], x.prod(axis=1)]
        assert np.array_equal(values, np.stack(expected, axis=1))

    def test_large_dimensions_cost_nothing(self):
        basis = FourierBasis(100)
        assert basis.size == 2**100
        assert basis.layer_size(2) == len(basis.layer(2)) == 4950
        assert basis.degree((3, 50, 100)) == 3
        with pytest.raises(ValueError, match="the list of the 50-subsets of 100 variables would need"):
            basis.layer(50)

    def test_both_ways_to_combine_agree(self):
        """Few coefficients at few points by products, else by one transform."""
        x = cube_points(6)
        coefficients = {(1, 6): 2.0, (2,): -1.0}
        expected = 2 * x[:, 0] * x[:, 5] - x[:, 1]
        assert np.array_equal(FourierBasis(6).combine(coefficients, x), expected)
        assert np.array_equal(FourierBasis(6).combine(coefficients, x[7:8]), expected[7:8])


class TestProjection(BasisContract):
    def make(self):
        return ProjectionBasis(orthonormal(4, 3))

    def test_elements_are_products_of_projections(self):
        V, x = orthonormal(3, 2, seed=1), cube_points(3)
        values = ProjectionBasis(V).evaluate(x, [(), (1,), (2,), (1, 2)])
        z = x @ V
        assert np.allclose(values, np.stack([np.ones(8), z[:, 0], z[:, 1], z[:, 0] * z[:, 1]], axis=1))

    def test_the_identity_gives_the_fourier_basis(self):
        ours, fourier = ProjectionBasis(np.eye(4)), FourierBasis(4)
        keys, x = list(fourier.keys()), cube_points(4)
        assert ours.degrees == {key: len(key) for key in keys}
        assert np.array_equal(ours.evaluate(x, keys), fourier.evaluate(x, keys))

    def test_fractions_are_exact(self):
        V = [[Fraction(4, 5)], [Fraction(3, 5)]]
        values = ProjectionBasis(V).evaluate(cube_points(2), [(), (1,)], exact=True)
        assert values[:, 1].tolist() == [Fraction(7, 5), Fraction(-1, 5), Fraction(1, 5), Fraction(-7, 5)]

    def test_orthonormal_columns_may_still_be_dependent_on_the_cube(self):
        """(x_1 + x_2)(x_1 - x_2) = 0."""
        with pytest.raises(ValueError, match=r"dependent: element \(1, 2\) is zero on the whole cube"):
            ProjectionBasis(np.array([[1, 1], [1, -1]]) / np.sqrt(2))

    def test_a_product_that_repeats_another_element_is_found(self):
        """In four variables the product of all rows of Hadamard's matrix / 2 is a multiple of another element."""
        H = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
        with pytest.raises(ValueError, match="the basis is linearly dependent: element"):
            ProjectionBasis(H)

    @pytest.mark.parametrize(
        ("V", "message"),
        [
            ([[1.0, 1.0], [0.0, 1.0]], "identity, but <v_1, v_2> = 1"),
            ([[2.0], [0.0]], "identity, but <v_1, v_1> = 4"),
            (np.ones((2, 3)) / np.sqrt(2), "identity, but <v_1, v_2> = 1"),
            ([[float("nan")], [1.0]], "must be the identity"),
            ([1.0, 0.0], r"V is a matrix of shape \(N, r\), .* got shape \(2,\)"),
            (np.eye(40)[:, :3], r"B\(V\) with 2\^3 elements on 2\^40 points would need"),
        ],
    )
    def test_other_matrices_are_refused(self, V, message):
        with pytest.raises(ValueError, match=message):
            ProjectionBasis(V)


class TestPlaa(BasisContract):
    def make(self):
        return PlaaBasis(5)

    def test_elements_are_as_printed(self):
        """The minus sign of b_ii included: x_i = -1 where n(x) = i."""
        x, basis = cube_points(5), PlaaBasis(5)
        for key in basis.keys():  # noqa: SIM118
            assert np.array_equal(basis.evaluate(x, [key])[:, 0], printed_plaa(*key, x))

    def test_combinations_are_attention(self):
        A = np.triu(np.random.default_rng(0).normal(size=(5, 5)))
        basis, x = PlaaBasis(5), cube_points(5)
        assert set(basis.keys()) == {(i, j) for i in range(1, 6) for j in range(i, 6)}
        values = basis.combine({(i, j): A[i - 1, j - 1] for i, j in basis.keys()}, x)  # noqa: SIM118
        assert np.allclose(values, attention(A, x))

    def test_large_scales_vanish_on_small_subcubes(self):
        x = cube_points(5)
        for i, j in PlaaBasis(5).keys():  # noqa: SIM118
            column = PlaaBasis(5).evaluate(x, [(i, j)])[:, 0]
            assert np.array_equal(column != 0, scale(x) == j)

    def test_an_empty_basis_is_refused(self):
        with pytest.raises(ValueError, match="a basis has at least one element"):
            PlaaBasis(0)


class TestRpe(BasisContract):
    def make(self):
        return GrpeBasis(rpe_matrices(5))

    def test_matrices_are_normalised_diagonals(self):
        matrices = rpe_matrices(4)
        assert np.allclose((matrices**2).sum(axis=(1, 2)), 1)
        assert np.array_equal(np.argwhere(matrices[2]), [[0, 2], [1, 3]])


class TestGrpe(BasisContract):
    def make(self):
        return GrpeBasis(self.matrices(4))

    def matrices(self, dimension):
        """Random upper triangular matrices with disjoint supports."""
        generator = np.random.default_rng(3)
        owner = generator.integers(0, 3, size=(dimension, dimension))
        entries = np.triu(generator.normal(size=(dimension, dimension)))
        U = np.array([entries * (owner == k) for k in range(3)])
        return U / np.sqrt((U**2).sum(axis=(1, 2)))[:, None, None]

    def test_elements_are_attention(self):
        U, x = self.matrices(5), cube_points(5)
        values = GrpeBasis(U).evaluate(x, [1, 2, 3])
        for k in range(3):
            assert np.allclose(values[:, k], attention(U[k], x))

    def test_single_entries_are_plaa(self):
        U = np.zeros((15, 5, 5))
        pairs = [(i, j) for i in range(1, 6) for j in range(i, 6)]
        for k, (i, j) in enumerate(pairs):
            U[k, i - 1, j - 1] = 1
        ours, plaa, x = GrpeBasis(U), PlaaBasis(5), cube_points(5)
        assert np.array_equal(ours.evaluate(x, range(1, 16)), plaa.evaluate(x, pairs))
        assert [ours.degree(k) for k in range(1, 16)] == [plaa.degree(pair) for pair in pairs]

    @pytest.mark.parametrize("seed", range(30))
    def test_degree_where_leading_terms_may_cancel(self, seed):
        """Entries that are signed powers of two cancel in many ways: [n(x) = j] has weights 2^-(N-j+1)."""
        generator = np.random.default_rng(seed)
        exponents, signs = generator.integers(0, 3, (4, 4)), generator.integers(-1, 2, (4, 4))
        U = np.triu(signs * 2.0**exponents)
        U[0, 0] = 1
        U /= np.linalg.norm(U)
        assert GrpeBasis([U]).degree(1) == BooleanFunction(attention(U, cube_points(4))).degree

    def test_degree_where_the_leading_term_does_cancel(self):
        """2 b_11 + b_12 has degree 1 on two variables, though b_11 and b_12 both have degree 2."""
        U = np.array([[2.0, 1.0], [0.0, 0.0]]) / np.sqrt(5)
        assert [PlaaBasis(2).degree(key) for key in [(1, 1), (1, 2)]] == [2, 2]
        assert BooleanFunction(attention(U, cube_points(2))).degree == GrpeBasis([U]).degree(1) == 1

    def test_degree_at_large_dimensions(self):
        """b_11 has degree N although its coefficients are 2^-N."""
        assert GrpeBasis(rpe_matrices(100)).degree(1) == 100
        assert GrpeBasis(rpe_matrices(100)).degree(100) == PlaaBasis(100).degree((1, 100)) == 2

    @pytest.mark.parametrize(
        ("U", "message"),
        [
            ([[[0.0, 0.0], [1.0, 0.0]]], r"U_1 must be upper triangular, but its entry \(2, 1\) is 1"),
            ([np.eye(2) * 0.5], "<U_1, U_1> must be 1, got 0.5"),
            ([np.zeros((2, 2))], "<U_1, U_1> must be 1, got 0"),
            ([np.eye(2) / np.sqrt(2), np.diag([0.0, 1.0])], r"entry \(2, 2\) is used by U_1 and U_2"),
            (np.eye(2), r"shape \(r, N, N\), got shape \(2, 2\)"),
            (np.ones((1, 2, 3)), r"got shape \(1, 2, 3\)"),
            (np.full((1, 1, 1), np.nan), "entries of U are finite numbers, got nan"),
            (np.zeros((0, 2, 2)), "a basis has at least one element"),
        ],
    )
    def test_other_matrices_are_refused(self, U, message):
        with pytest.raises(ValueError, match=message):
            GrpeBasis(U)
