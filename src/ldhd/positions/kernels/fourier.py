"""A convolution with kernels of any width, by real Fourier transforms.

Row j of aligned anchors is zero before its last j + 1 columns, and no more of the result is wanted: rows are taken in
blocks, each with transforms as short as its last row allows.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

Scores = Float[Tensor, "B H q m"]
Rows = Float[Tensor, "B #H q k"]

BLOCK = 128
"""Rows in a block."""


def convolve(scores: Scores, rows: Rows) -> tuple[Float[Tensor, "B H q k"], tuple[Tensor, ...]]:
    """[c] = sum over c' of rows[c'] g(c - c') for the columns c of distances up to j, else zero; and the transforms."""
    queries, keys = rows.shape[-2:]
    result = scores.new_zeros(*scores.shape[:-1], keys)
    kept: list[Tensor] = []
    for part, reach in _blocks(queries, keys):
        size = good_size(2 * reach - 1)
        spectrum = torch.fft.rfft(rows[..., part, keys - reach :], n=size)
        kernel = torch.fft.rfft(_kernel(scores[..., part, :], reach, size))
        result[..., part, keys - reach :] = torch.fft.irfft(spectrum * kernel, n=size)[..., :reach]
        kept += [spectrum, kernel]
    return result, tuple(kept)


def gradients(
    gradient: Float[Tensor, "B H q k"], scores: Scores, kept: tuple[Tensor, ...]
) -> tuple[Scores, Float[Tensor, "B H q k"]]:
    """Those of the scores and of the rows, the latter for each head."""
    queries, keys = gradient.shape[-2:]
    to_scores, to_rows = torch.zeros_like(scores), torch.zeros_like(gradient)
    for index, (part, reach) in enumerate(_blocks(queries, keys)):
        spectrum, kernel = kept[2 * index : 2 * index + 2]
        size = good_size(2 * reach - 1)
        back = torch.fft.rfft(gradient[..., part, keys - reach :], n=size)
        to_rows[..., part, keys - reach :] = torch.fft.irfft(back * kernel.conj(), n=size)[..., :reach]
        _add_to_scores(to_scores[..., part, :], torch.fft.irfft(back * spectrum.conj(), n=size), reach)
    return to_scores, to_rows


def good_size(least: int) -> int:
    """The smallest even number from `least` on without a prime factor above 5."""
    size = least + least % 2
    while not _is_good(size):
        size += 2
    return size


def _is_good(size: int) -> bool:
    for prime in (2, 3, 5):
        while size % prime == 0:
            size //= prime
    return size == 1


def _blocks(queries: int, keys: int) -> Iterator[tuple[slice, int]]:
    """Which rows, and how many of the last columns they use."""
    for start in range(0, queries, BLOCK):
        stop = min(start + BLOCK, queries)
        yield slice(start, stop), keys - queries + stop


def _kernel(scores: Tensor, reach: int, size: int) -> Tensor:
    """g(0) .. g(reach - 1), zeros, g(1 - reach) .. g(-1)."""
    w = scores.shape[-1] // 2
    inside = min(w, reach - 1)
    kernel = scores.new_zeros(*scores.shape[:-1], size)
    kernel[..., : inside + 1] = scores[..., w : w + inside + 1]
    kernel[..., inside + 1 : reach] = scores[..., -1:]
    kernel[..., size - reach + 1 : size - inside] = scores[..., :1]
    kernel[..., size - inside :] = scores[..., w - inside : w]
    return kernel


def _add_to_scores(to_scores: Tensor, to_kernel: Tensor, reach: int) -> None:
    """The gradient of `_kernel`."""
    w, size = to_scores.shape[-1] // 2, to_kernel.shape[-1]
    inside = min(w, reach - 1)
    to_scores[..., w : w + inside + 1] += to_kernel[..., : inside + 1]
    to_scores[..., -1] += to_kernel[..., inside + 1 : reach].sum(-1)
    to_scores[..., 0] += to_kernel[..., size - reach + 1 : size - inside].sum(-1)
    to_scores[..., w - inside : w] += to_kernel[..., size - inside :]
