"""Whether a score exists that puts certain cells above certain others: it does if `winner > loser` has no cycle."""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain, islice

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Edge = tuple[int, int]

MOST_STARTS = 50
"""The number of nodes from which a short cycle is searched."""


def find_cycle(edges: Iterable[Edge]) -> list[int] | None:
    """Return nodes each of which must beat the next, and the last the first; None if there is no cycle.

    Cycles of one and two nodes are found first; beyond these it is the shortest through any of `MOST_STARTS` nodes.
    """
    known = dict.fromkeys(edges)
    for winner, loser in known:
        if winner == loser:
            return [winner]
    for winner, loser in known:
        if (loser, winner) in known:
            return [winner, loser]
    order = {node: place for place, node in enumerate(dict.fromkeys(chain.from_iterable(known)))}
    core: dict[int, list[int]] = {node: [] for node in order}
    for winner, loser in sorted(_on_cycles(list(known)), key=lambda edge: order[edge[1]]):
        core[winner].append(loser)
    cycles = (_shortest_cycle(node, core) for node in islice(filter(core.get, core), MOST_STARTS))
    return min((cycle for cycle in cycles if cycle is not None), key=len, default=None)


def has_cycle(edges: Iterable[Edge]) -> bool:
    """Whether the edges (winner, loser) have a cycle."""
    return bool(_on_cycles(list(edges)))


def _on_cycles(edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges that are part of a cycle: both ends are in one strongly connected component."""
    if not edges:
        return []
    nodes, numbers = np.unique(np.array(edges), return_inverse=True)
    winners, losers = numbers.reshape(-1, 2).T
    graph = csr_array((np.ones(len(edges)), (winners, losers)), shape=(len(nodes), len(nodes)))
    component = connected_components(graph, connection="strong")[1]
    return [edges[index] for index in np.flatnonzero(component[winners] == component[losers]).tolist()]


def _shortest_cycle(start: int, graph: dict[int, list[int]]) -> list[int] | None:
    """Return a shortest path from a node back to itself, by breadth-first search."""
    came_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for loser in graph[node]:
            if loser == start:
                path = [node]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if loser not in came_from:
                came_from[loser] = node
                queue.append(loser)
    return None
