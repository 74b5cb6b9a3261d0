"""The paper's position terms as functions of queries, anchor weights and a table.

Letters: B batch, H heads, q queries, k keys (the q queries are the last of the k keys), d head dimension,
w the largest distance that the table tells apart. `anchor[j, l]` is the weight with which position j measures its
distance from position l <= j; each row sums to one. Anchors may be the same for all heads (H = 1).
"""

from jaxtyping import Float
from torch import Tensor

from ldhd.positions.kernels.aligned import absolute_keys, align
from ldhd.positions.kernels.precision import full_precision
from ldhd.positions.kernels.square import square, square_scores
from ldhd.positions.rpe import relative_scores

Queries = Float[Tensor, "B H q d"]
Weights = Float[Tensor, "B H q k"]
Anchors = Float[Tensor, "B #H k k"]
Table = Float[Tensor, "m d"] | Float[Tensor, "H m d"]


def rpe_square_bias(q: Queries, anchor: Anchors, table: Table) -> Weights:
    """[j, i] = q_j . sum over l <= j and k <= i of anchor[j, l] anchor[i, k] R_{(j-l)-(i-k)}, zero where i > j.

    `table` holds R_{-w} .. R_w; distances beyond w take the end rows, and w = n - 1 is the unclipped formula.
    """
    rows = align(full_precision(anchor).tril())
    return square(square_scores(q, table, anchor.shape[-1]), rows).tril().to(q.dtype)


def rpe_absolute_bias(q: Queries, anchor: Anchors, table: Table) -> Weights:
    """[j, i] = q_j . sum over k <= i of anchor[i, k] R_{i-k}, zero where i > j.

    `table` holds R_0 .. R_w; distances beyond w take the last row.
    """
    return (q @ absolute_keys(align(anchor.tril()), table).transpose(-1, -2)).tril()


def rpe_bias(q: Queries, keys: int, table: Table) -> Weights:
    """[j, i] = q_j . R_{j-i}, zero where i > j; `table` holds R_0 .. R_w, and distances beyond w take the last row."""
    return relative_scores(q, keys, table).tril(keys - q.shape[-2])
