"""The paper's position terms as functions of queries, anchor weights and a table.

Letters: B batch, H heads, q queries, k keys (the q queries are the last of the k keys), d head dimension,
w the largest distance the table tells apart. `anchor[j, l]` is the weight with which position j measures its
distance from position l <= j; each row sums to one. Anchors may be the same for all heads (H = 1).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Queries = Float[Tensor, "B H q d"]
Weights = Float[Tensor, "B H q k"]
Anchors = Float[Tensor, "B #H q k"]

# Up to this distance a table is applied by shifts, one multiplication a row; beyond it by a real FFT.
LARGEST_SHIFT = 8


def rpe_square_bias(q: Queries, anchor: Anchors, table: Float[Tensor, "m d"] | Float[Tensor, "H m d"]) -> Weights:
    """[j, i] = q_j . sum over l <= j and k <= i of anchor[j, l] anchor[i, k] R_{(j-l)-(i-k)}, for i <= j.

    `table` holds R_{-w} .. R_w; distances beyond w take the end rows, and w = n - 1 is the unclipped formula.
    Entries with i > j have no meaning.
    """
    distances = by_distance(anchor)
    return rpe_square_queries(q, distances, table) @ distances.transpose(-1, -2)


def rpe_absolute_bias(q: Queries, anchor: Anchors, table: Float[Tensor, "m d"] | Float[Tensor, "H m d"]) -> Weights:
    """[j, i] = q_j . sum over k <= i of anchor[i, k] R_{i-k}; `table` holds R_0 .. R_w, beyond w the last row."""
    return rpe_absolute_queries(q, anchor.shape[-1], table) @ by_distance(anchor).transpose(-1, -2)


def rpe_bias(q: Queries, keys: int, table: Float[Tensor, "m d"] | Float[Tensor, "H m d"]) -> Weights:
    """[j, i] = q_j . R_{j-i}; `table` holds R_0 .. R_w, beyond w the last row. No meaning where i > j."""
    return _skew(rpe_absolute_queries(q, keys, table))


def by_distance(weights: Weights) -> Weights:
    """P[j, e] = weights[j, j - e]: the same weights, looked up by distance; zero where e > j."""
    queries, keys = weights.shape[-2:]
    return _skew(weights).tril(keys - queries)


def rpe_square_queries(q: Queries, distances: Anchors, table: Float[Tensor, "m d"] | Float[Tensor, "H m d"]) -> Weights:
    """T[j, e] = sum over distances d of P[j, d] (q_j . R_{d-e}), so that the bias is T P^T."""
    if table.shape[-2] % 2 == 0:
        raise ValueError(f"the table must hold R_-w .. R_w, an odd number of rows, got {table.shape[-2]}")
    w, keys = table.shape[-2] // 2, distances.shape[-1]
    if w > keys - 1:
        table = table[..., w - keys + 1 : w + keys, :]
        w = keys - 1
    scores = q @ table.transpose(-1, -2)
    correlate = _correlate_by_shifts if w <= LARGEST_SHIFT else _correlate_by_fft
    return correlate(scores, distances, w)


def rpe_absolute_queries(q: Queries, keys: int, table: Float[Tensor, "m d"] | Float[Tensor, "H m d"]) -> Weights:
    """T[j, e] = q_j . R_min(e, w) for e = 0 .. keys - 1."""
    scores = q @ table[..., :keys, :].transpose(-1, -2)
    missing = keys - scores.shape[-1]
    if missing > 0:
        scores = torch.cat([scores, scores[..., -1:].expand(*scores.shape[:-1], missing)], dim=-1)
    return scores


def _correlate_by_shifts(scores: Float[Tensor, "B H q m"], distances: Anchors, w: int) -> Weights:
    """sum over d of P(d) g(d - e), with g constant beyond w: one shift of P a row of g, sums for the two ends."""
    keys = distances.shape[-1]
    if w == 0:
        return (scores * distances.sum(-1, keepdim=True)).expand(*scores.shape[:-1], keys)
    below = distances.cumsum(-1)
    total = below[..., -1:]
    at_most = F.pad(below, (w, 0))[..., :keys]
    at_least = total - torch.cat([below[..., w - 1 :], total.expand(*total.shape[:-1], w - 1)], dim=-1)
    # below(e + w - 1) excludes e + w itself, hence "at least e + w"
    result = scores[..., :1] * at_most + scores[..., 2 * w :] * at_least
    padded = F.pad(distances, (w, w))
    for m in range(1 - w, w):
        result = result + scores[..., w + m : w + m + 1] * padded[..., w + m : w + m + keys]
    return result


def _correlate_by_fft(scores: Float[Tensor, "B H q m"], distances: Anchors, w: int) -> Weights:
    """The same sum as a circular correlation; 2 n - 1 points are enough to keep its ends apart."""
    keys = distances.shape[-1]
    size = 2 * keys
    beyond = keys - 1 - w
    right = [scores[..., w:], scores[..., -1:].expand(*scores.shape[:-1], beyond + 1)]
    left = [scores[..., :1].expand(*scores.shape[:-1], beyond), scores[..., :w]]
    kernel = torch.cat(right + left, dim=-1)
    if kernel.dtype in (torch.bfloat16, torch.float16):
        kernel = kernel.float()
    spectrum = torch.fft.rfft(distances.to(kernel.dtype), n=size) * torch.fft.rfft(kernel).conj()
    return torch.fft.irfft(spectrum, n=size)[..., :keys].to(scores.dtype)


def _skew(x: Weights) -> Weights:
    """y[j, c] = x[j, j - c], its own inverse, by one flip and a shift of row r by q - 1 - r; else no meaning."""
    queries, keys = x.shape[-2:]
    flat = F.pad(x.flip(-1), (0, 1)).flatten(-2)
    return flat[..., queries - 1 : queries - 1 + queries * keys].unflatten(-1, (queries, keys))
