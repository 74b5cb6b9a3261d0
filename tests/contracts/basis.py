"""What every basis must do; a test class of a basis inherits all of this."""

from fractions import Fraction

import numpy as np
import pytest

from ldhd.boolean import BooleanFunction, cube_points, expand


class BasisContract:
    """`make()` gives the basis under test, on a cube small enough to look at every point."""

    def make(self):
        raise AssertionError("a basis's test says how to make it")

    def matrix(self, exact=False):
        basis = self.make()
        return basis.evaluate(cube_points(basis.dimension), list(basis.keys()), exact)

    def test_degrees_are_those_on_the_cube(self):
        basis = self.make()
        for key, values in zip(basis.keys(), self.matrix().T, strict=True):
            assert basis.degree(key) == BooleanFunction(values).degree, key

    def test_layers_hold_every_element_once(self):
        basis = self.make()
        keys = list(basis.keys())
        assert len(set(keys)) == len(keys) == basis.size
        for degree in range(basis.largest_degree + 1):
            assert len(basis.layer(degree)) == basis.layer_size(degree)
            assert all(basis.degree(key) == degree for key in basis.layer(degree))
        assert basis.layer_size(basis.largest_degree)

    def test_elements_are_linearly_independent(self):
        assert np.linalg.matrix_rank(self.matrix()) == self.make().size

    def test_exact_values_are_the_same_numbers(self):
        exact = self.matrix(exact=True)
        assert all(isinstance(value, Fraction) for value in exact.flat)
        assert np.allclose(exact.astype(float), self.matrix(), atol=1e-12)

    def test_any_choice_and_order_of_elements(self):
        basis = self.make()
        keys = list(basis.keys())
        points = cube_points(basis.dimension)[::3]
        chosen = np.random.default_rng(0).permutation(len(keys))[: max(1, len(keys) // 2)]
        part = basis.evaluate(points, [keys[index] for index in chosen])
        assert np.array_equal(part, basis.evaluate(points, keys)[:, chosen])

    def test_membership(self):
        with pytest.raises(KeyError, match="'no such element' is no element"):
            self.make().degree("no such element")

    def test_combinations_are_found_again(self):
        basis = self.make()
        wanted = {key: float(number) for number, key in enumerate(basis.keys(), start=-2)}
        values = basis.combine(wanted, cube_points(basis.dimension))
        found = expand(BooleanFunction(values), basis)
        assert all(found[key] == pytest.approx(value, abs=1e-9) for key, value in wanted.items())
