"""Whether a score exists that puts certain cells above certain others: whether `winner > loser` has no cycle."""

from collections import deque
from collections.abc import Iterable
from itertools import islice

Edge = tuple[int, int]

TRIED = 50
"""Nodes from which a short cycle is looked for."""


def find_cycle(edges: Iterable[Edge]) -> list[int] | None:
    """Nodes each of which must beat the next and the last the first; None if there is no cycle.

    Cycles of one and two nodes are found first; beyond these it is the shortest through any of `TRIED` nodes.
    """
    known = dict.fromkeys(edges)
    for winner, loser in known:
        if winner == loser:
            return [winner]
    for winner, loser in known:
        if (loser, winner) in known:
            return [winner, loser]
    core = _core(_rows(known))
    ways = (_back_to(node, core) for node in islice(core, TRIED))
    return min((way for way in ways if way is not None), key=len, default=None)


def has_cycle(edges: Iterable[Edge]) -> bool:
    return bool(_core(_rows(edges)))


def _rows(edges: Iterable[Edge]) -> dict[int, list[int]]:
    beats: dict[int, list[int]] = {}
    for winner, loser in edges:
        beats.setdefault(winner, []).append(loser)
        beats.setdefault(loser, [])
    return beats


def _core(beats: dict[int, list[int]]) -> dict[int, list[int]]:
    """What is left when nodes that nobody beats, or that beat nobody, are taken away for as long as there are any."""
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


def _back_to(start: int, graph: dict[int, list[int]]) -> list[int] | None:
    """A shortest way from a node back to itself."""
    came_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for loser in graph[node]:
            if loser == start:
                way = [node]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if loser not in came_from:
                came_from[loser] = node
                queue.append(loser)
    return None
