"""Cycles against trying every order."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from ldhd.predict.ranking import find_cycle, has_cycle

EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


@given(EDGES)
def test_there_is_a_cycle_unless_some_order_obeys_all(edges):
    obeyed = any(all(order.index(a) < order.index(b) for a, b in edges) for order in permutations(range(5)))
    assert has_cycle(edges) is not obeyed
    assert (find_cycle(edges) is None) is obeyed


@given(EDGES)
def test_a_cycle_that_is_found_is_one(edges):
    cycle = find_cycle(edges)
    if cycle is not None:
        assert len(set(cycle)) == len(cycle)
        assert set(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) <= set(edges)


def test_the_shortest_comes_first():
    assert find_cycle([(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)]) == [3, 4]
    assert find_cycle([(0, 1), (1, 0), (5, 5)]) == [5]
    assert find_cycle([(9, 0), (0, 1), (1, 2), (2, 0), (2, 7)]) == [0, 1, 2]
