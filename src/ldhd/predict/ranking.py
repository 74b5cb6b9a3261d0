"""Whether a score exists that puts certain cells above certain others: it does if `winner > loser` has no cycle."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

Edge = tuple[int, int]

MOST_STARTS = 50
"""The number of nodes from which a short cycle is searched."""


def find_cycle(edges: Iterable[Edge]) -> list[int] | None:
    """Return nodes each of which must beat the next, and the last the first; None if there is no cycle.

    Cycles of one and two nodes are found first; beyond these it is the shortest through any of `MOST_STARTS` nodes.
    """
    known = dict.fromkeys(edges)
    mutual = [edge for edge in known if edge[::-1] in known]
    if mutual:
        return list(dict.fromkeys(min(mutual, key=lambda edge: len(set(edge)))))
    nodes = list(dict.fromkeys(node for edge in known for node in edge))
    number = {node: place for place, node in enumerate(nodes)}
    graph = _cyclic_part((number[winner], number[loser]) for winner, loser in known)
    cycles = [_shortest_cycle(graph, start) for start in np.flatnonzero(np.diff(graph.indptr))[:MOST_STARTS]]
    return [nodes[place] for place in min(cycles, key=len)] if cycles else None


def has_cycle(edges: Iterable[Edge] | NDArray[np.int64]) -> bool:
    """Whether the edges (winner, loser), which may be the rows of an array, have a cycle.

    Edges whose winner never loses, or whose loser never wins, are in none. Where all others are left out, every loser
    wins against another one, which cannot go on without returning.
    """
    listed = edges if isinstance(edges, np.ndarray) else np.array(list(edges), np.int64)
    winners, losers = listed.reshape(-1, 2).T
    while len(winners):
        size = 1 + max(int(winners.max()), int(losers.max()))
        wins, loses = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        wins[winners], loses[losers] = True, True
        kept = loses[winners] & wins[losers]
        if kept.all():
            return True
        winners, losers = winners[kept], losers[kept]
    return False


def _cyclic_part(edges: Iterable[Edge]) -> csr_array:
    """Return the graph of those edges whose ends are in one strongly connected component."""
    winners, losers = np.array(list(edges), np.int64).reshape(-1, 2).T
    size = 1 + max(winners.max(initial=0), losers.max(initial=0))
    graph = csr_array((np.ones(len(winners)), (winners, losers)), shape=(size, size))
    component = connected_components(graph, connection="strong")[1]
    inside = component[winners] == component[losers]
    return csr_array((np.ones(inside.sum()), (winners[inside], losers[inside])), shape=(size, size))


def _shortest_cycle(graph: csr_array, start: int) -> list[int]:
    """Return a shortest path from a node on a cycle back to itself."""
    reached, before = breadth_first_order(graph, start)
    before_start = set(graph[:, [start]].nonzero()[0])
    path = [next(node for node in reached if node in before_start)]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
