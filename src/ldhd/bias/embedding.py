"""The basis of a position embedding: GRPE's U_1 .. U_r from the classes of pairs that the embedding can tell apart.

A Transformer reads the word x_1 .. x_n of a point as the string `b x_1 .. x_n =`, a 1 for each -1 and a 0 for each 1,
and answers at `=`. The pair of that query and the key x_i has a class, its `relation`. U_k is the indicator of the k-th
class over the pairs (i, n), divided by its norm: PLAA with GRPE for these U_k attends as the embedding allows and no
more. For RPE these are the diagonals, for APE single entries, for RPE-Square, whose `=` measures from itself and whose
digits measure from `b`, the rows.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import GrpeBasis
from ldhd.experiments.parts import build_position, position_options


def embedding_matrices(position: str, dimension: int, options: dict[str, Any] | None = None) -> NDArray[np.float64]:
    """Return U_1 .. U_r in the order in which the classes first occur: shape (r, N, N)."""
    if dimension < 1:
        raise ValueError(f"the basis of an embedding exists for N >= 1, got {dimension}")
    built = build_position(position, embedding_options(position, dimension, options))
    classes: dict[Hashable, list[tuple[int, int]]] = {}
    for n in range(1, dimension + 1):
        tokens = ["b", *"0" * n, "="]
        for i in range(1, n + 1):
            classes.setdefault(built.relation(tokens, n + 1, i), []).append((i - 1, n - 1))
    U = np.zeros((len(classes), dimension, dimension))
    for k, pairs in enumerate(classes.values()):
        U[k][tuple(np.array(pairs).T)] = 1 / np.sqrt(len(pairs))
    return U


def embedding_basis(position: str, dimension: int, options: dict[str, Any] | None = None) -> GrpeBasis:
    """Return the linearly independent set of PLAA with this embedding (Theorem 4)."""
    return GrpeBasis(embedding_matrices(position, dimension, options))


def embedding_options(
    position: str, dimension: int, options: dict[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """Return all options of an embedding; unless given, tables are as long as the strings, so nothing is clipped."""
    given = dict(options or {})
    found = position_options(position, given)
    chosen = {name.split(".")[-1] for name in given}
    for own in found.values():
        own |= dict.fromkeys({"max_distance", "table_size"} & own.keys() - chosen, dimension + 2)
    return found
