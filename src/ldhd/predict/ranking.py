"""Whether a score exists that puts certain cells above certain others: it does if `winner > loser` has no cycle."""

from collections import deque
from collections.abc import Iterable
from itertools import islice

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
    core = _core(_successors(known))
    cycles = (_shortest_cycle(node, core) for node in islice(core, MOST_STARTS))
    return min((cycle for cycle in cycles if cycle is not None), key=len, default=None)


def has_cycle(edges: Iterable[Edge]) -> bool:
    """Whether the edges (winner, loser) have a cycle."""
    return bool(_core(_successors(edges)))


def _successors(edges: Iterable[Edge]) -> dict[int, list[int]]:
    beats: dict[int, list[int]] = {}
    for winner, loser in edges:
        beats.setdefault(winner, []).append(loser)
        beats.setdefault(loser, [])
    return beats


def _core(beats: dict[int, list[int]]) -> dict[int, list[int]]:
    """Remove nodes without predecessors or without successors until there are none."""
    for _ in range(2):
        beats = _reversed(_without_sources(beats))
    return beats


def _without_sources(graph: dict[int, list[int]]) -> dict[int, list[int]]:
    above = dict.fromkeys(graph, 0)
    for row in graph.values():
        for loser in row:
            above[loser] += 1
    sources = [node for node, count in above.items() if count == 0]
    left = dict(graph)
    while sources:
        for loser in left.pop(sources.pop()):
            above[loser] -= 1
            if above[loser] == 0:
                sources.append(loser)
    return left


def _reversed(graph: dict[int, list[int]]) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {node: [] for node in graph}
    for winner, row in graph.items():
        for loser in row:
            result[loser].append(winner)
    return result


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
