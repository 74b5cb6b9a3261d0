"""Which regular languages are in C-RASP, decided from the automaton.

C-RASP programs count earlier positions and compare counts; Transformers without position embedding are said to
length-generalise on exactly these languages (Huang et al., arXiv 2410.02140; Yang and Chiang, arXiv 2404.04393). The
regular ones among them are the wreath products of Dyck languages of bounded depth, which can be decided in polynomial
time (Yang et al., arXiv 2608.13433, Theorems 14 and 15). The procedure here is our own: it looks for bounded counters
that tell the states of each strongly connected component apart. The tests compare it with labels from that paper.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ldhd.tasks.automaton import Automaton

Edge = tuple[int, int, int]


def in_c_rasp(automaton: Automaton) -> bool:
    """Whether a language is in C-RASP, from its minimal automaton.

    A counter adds a weight for each symbol read, and the weight may depend on what is known of the state so far. A
    counter that returns to its value on every loop of a component is a function of the state there. States with
    different values are told apart, which allows further counters, until nothing changes. The language is in C-RASP if
    all states of all components are told apart at the end: which component a word has entered, and through which edge,
    is a single event, which counting finds.
    """
    return all(_told_apart(states, _inside(automaton, states)) for states in components(automaton))


def is_r_trivial(automaton: Automaton) -> bool:
    """Whether a run never returns to a state that it has left."""
    return all(len(states) == 1 for states in components(automaton))


def is_star_free(automaton: Automaton) -> bool:
    """Whether no word permutes several states in a cycle: the powers of each map of states become constant."""
    maps = _transition_monoid(automaton)
    for one in maps:
        power = one
        for _ in maps:
            power = _after(power, one)
        if _after(power, one) != power:
            return False
    return True


def components(automaton: Automaton) -> list[list[int]]:
    """Return the states of each strongly connected component."""
    sources, targets = np.array([(p, q) for p, _, q in automaton.edges]).T
    size = len(automaton.states)
    graph = csr_array((np.ones(len(sources)), (sources, targets)), shape=(size, size))
    number, labels = connected_components(graph, connection="strong")
    return [np.flatnonzero(labels == label).tolist() for label in range(number)]


def _inside(automaton: Automaton, states: Sequence[int]) -> list[Edge]:
    return [(p, symbol, q) for p, symbol, q in automaton.edges if p in states and q in states]


def _told_apart(states: Sequence[int], edges: Sequence[Edge]) -> bool:
    known = dict.fromkeys(states, 0)
    while True:
        refined = _refined(states, edges, known)
        if len(set(refined.values())) == len(set(known.values())):
            return len(set(known.values())) == len(states)
        known = refined


def _refined(states: Sequence[int], edges: Sequence[Edge], known: dict[int, int]) -> dict[int, int]:
    """Return a number for each state, equal for states that every counter gives the same value.

    The unknowns are the value of each state and the weight of each symbol in each class of known states. Every edge
    demands that the value of its end is that of its start plus a weight. Two states always have the same value if the
    demands imply so: if one more equation, that their values are equal, does not raise the rank.
    """
    weights = {label: len(states) + n for n, label in enumerate(sorted({(known[p], s) for p, s, _ in edges}))}
    place = {state: n for n, state in enumerate(states)}
    demands = np.zeros((len(edges), len(states) + len(weights)))
    for row, (p, symbol, q) in zip(demands, edges, strict=True):
        row[place[q]] += 1
        row[place[p]] -= 1
        row[weights[known[p], symbol]] -= 1
    rank = np.linalg.matrix_rank(demands)
    found: dict[int, int] = {}
    for state in states:
        for other in found:
            equal = np.zeros((1, demands.shape[1]))
            equal[0, place[state]], equal[0, place[other]] = 1, -1
            if np.linalg.matrix_rank(np.concatenate([demands, equal])) == rank:
                found[state] = found[other]
                break
        else:
            found[state] = len(set(found.values()))
    return found


def _transition_monoid(automaton: Automaton) -> set[tuple[int | None, ...]]:
    generators = [tuple(row[symbol] for row in automaton.transitions) for symbol in automaton.symbols]
    found, new = set(generators), set(generators)
    while new:
        new = {_after(one, other) for one, other in product(new, generators)} - found
        found |= new
    return found


def _after(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Return the map that applies `one` and then `other`."""
    return tuple(None if state is None else other[state] for state in one)
