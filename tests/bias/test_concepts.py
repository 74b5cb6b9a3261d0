"""Concepts as users write them, problems, and the training sets of Abbe et al."""

import numpy as np
import pytest

from ldhd.bias.concepts import CONCEPTS, STUDIED, read_concept
from ldhd.bias.problem import make_problem
from ldhd.bias.references import references
from ldhd.boolean import BooleanFunction, FourierBasis, cube_points, min_degree_interpolator, scale

PUBLISHED = {
    "abbe-1": {(3,): 1.0, (1,): -1.25, (2,): 1.5},
    "abbe-2": {(1,): 1.0, (2,): 1.0, (): -1.0},
    "abbe-4": {(1,): 0.5, (2,): 0.5, (3,): 1.0, (1, 3): -0.5, (2, 3): -0.5},
}
"""The interpolators by hand: x1 x2 = x3 on the seen points of the first, x1 x2 = x1 + x2 - 1 on those of the others."""


class TestExpressions:
    def test_is_the_function(self):
        concept, _ = read_concept("x1*x2 + 3*x5 - 0.5", None)
        expected = BooleanFunction.from_fourier({(1, 2): 1.0, (5,): 3.0, (): -0.5}, dimension=5)
        assert np.array_equal(concept.values, expected.values)

    def test_symbols_of_the_word(self):
        """place counts from the beginning of x_1 .. x_n(x), back from its end; both are 0 outside the word."""
        points = cube_points(4)
        for k in range(5):
            place, back = (read_concept(f"{name}({k}) + 0*x4", 4)[0].values for name in ("place", "back"))
            for x, n, from_start, from_end in zip(points, scale(points), place, back, strict=True):
                word = [0, *x[:n]]
                assert from_start == (word[k] if 1 <= k <= n else 0)
                assert from_end == (word[n - k] if n - k >= 1 else 0)

    def test_functions(self):
        points = cube_points(3)
        found = read_concept("sign(x1 + x2 + x3) + max(x1, x2, 0) - min(2, n)", None)[0].values
        expected = np.sign(points.sum(1)) + np.maximum(points[:, :2].max(1), 0) - np.minimum(2, scale(points))
        assert np.array_equal(found, expected)

    @pytest.mark.parametrize("text", ["7,-1,1,-7", "[7, -1, 1, -7]"])
    def test_table(self, text):
        assert np.array_equal(read_concept(text, None)[0].values, read_concept("4*x1 + 3*x2", None)[0].values)

    def test_table_in_a_file(self, tmp_path):
        path = tmp_path / "table.txt"
        path.write_text("7 -1\n1 -7\n")
        assert read_concept(str(path), 2)[0].values.tolist() == [7, -1, 1, -7]

    @pytest.mark.parametrize(
        ("text", "dimension", "message"),
        [
            ("x1 + x9", 3, "'x9' in 'x1 . x9' is unknown"),
            ("x1 / x2", None, "'x1 / x2' in 'x1 / x2' is not allowed; use numbers"),
            ("x1.real", None, "is not allowed"),
            ("__import__('os')*x1", None, "is not allowed"),
            ("x1 +", None, "is no expression"),
            ("1 + 2", None, "give --dimension"),
            ("back(x1)", 2, "takes one whole number"),
            ("back(1, 2)", 3, "takes one whole number"),
            ("sign(x1, x2)", 3, "takes one value"),
            ("rpe-sen", None, "did you mean rpe-seen"),
            ("1,2,3", None, "has 3 values; a table has 2.N"),
            ("1,2,3,x", None, "holds 'x', which is no number"),
            ("1,2,3,nan", None, "not finite"),
            ("1,2,3,4", 3, "has 8 values, got 4"),
            ("x1*x40", 40, "N is from 1 to 24"),
        ],
    )
    def test_bad_input(self, text, dimension, message):
        with pytest.raises(ValueError, match=message):
            make_problem(text, dimension)


class TestProblems:
    def test_trains_on_the_subcube(self):
        problem = make_problem("x1*x2 + 3*x5", scale=3)
        assert problem.rows.tolist() == list(range(8))
        assert problem.whole
        assert problem.unseen.sum() == 32 - 8

    def test_trains_where_an_expression_is_positive(self):
        problem = make_problem("abbe-2")
        assert not problem.whole
        assert len(problem.rows) == 3 * 2**4
        assert not np.any(np.all(problem.points[:, :2] == -1, axis=1))

    def test_priming_and_samples(self):
        problem = make_problem("parity", scale=4, samples=6, priming=3)
        again = make_problem("parity", scale=4, samples=6, priming=3)
        assert np.array_equal(problem.rows, again.rows)
        assert (problem.rows < 16).sum() == 6
        assert (problem.rows >= 16).sum() == 3

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"scale": 9}, "N0 = 0 .. N = 8, got N0 = 9"),
            ({"where": "x1 - 2"}, "no point of X_5"),
            ({"samples": 33}, "32 points to draw from"),
            ({"priming": 1000}, "224 points of X_N outside"),
        ],
    )
    def test_bad_input(self, options, message):
        with pytest.raises(ValueError, match=message):
            make_problem("parity", **options)

    def test_enough_is_studied(self):
        assert len(STUDIED) >= 12
        assert set(STUDIED) < set(CONCEPTS)


class TestInterpolators:
    @pytest.mark.parametrize("name", PUBLISHED)
    def test_those_of_abbe(self, name):
        problem = make_problem(name)
        (found,) = references(problem, ["fourier"])
        expected = BooleanFunction.from_fourier(PUBLISHED[name], problem.dimension)
        assert np.allclose(found.values, expected.values, atol=1e-12)

    def test_third_of_abbe(self):
        """x1 x2 x3 becomes x1 x2 + x2 x3 + x1 x3 - x1 - x2 - x3 + 1; the other products stay."""
        problem = make_problem("abbe-3")
        (found,) = references(problem, ["fourier"])
        x = cube_points(problem.dimension).astype(float)
        a, b, c = x[:, :3].T
        expected = problem.concept.values - a * b * c + a * b + b * c + a * c - a - b - c + 1
        assert np.allclose(found.values, expected, atol=1e-12)

    @pytest.mark.parametrize("where", ["x1*x2*x3", "x2 + x4 + 1", "2 + x1 + x3 + x4", "x1*x2 + x3"])
    def test_deciding_variables_are_a_short_cut(self, where):
        """One small problem for each character of the other variables gives what the solver gives for all at once."""
        problem = make_problem(",".join(map(str, np.random.default_rng(0).normal(size=32))), where=where)
        (found,) = references(problem, ["fourier"])
        direct = min_degree_interpolator(problem.points, problem.labels, FourierBasis(5))
        assert np.allclose(found.values, direct(cube_points(5)), atol=1e-9)

    def test_outside_the_span_has_a_reason(self):
        (found,) = references(make_problem("sparse-seen"), ["plaa"])
        assert found.values is None
        assert "no interpolator exists in the span" in found.reason
