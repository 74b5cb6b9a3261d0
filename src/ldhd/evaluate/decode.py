"""Greedy decoding."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ldhd.model import GPT
from ldhd.model.packing import Packing, last_tokens
from ldhd.tasks.tokens import VOCABULARY, Vocabulary

Padding = Literal["left", "right"]


@torch.inference_mode()
def greedy(
    model: GPT,
    prompts: Sequence[Sequence[int]],
    new_tokens: int,
    *,
    cache: bool = True,
    padding: Padding = "left",
    vocabulary: Vocabulary = VOCABULARY,
) -> list[list[int]]:
    """Return the most likely continuation of each prompt, up to its first `e` or to `new_tokens` tokens.

    With a cache, each step reads one token of each row; rows then end at the same place, so padding stands on the left.
    A model that draws positions in tests has no use for a cache, since those of earlier tokens change with each token.
    """
    if cache and padding == "right":
        raise ValueError("decoding with a cache needs padding on the left")
    model.eval()
    device = next(model.parameters()).device
    if cache and not model.redraws:
        written = _cached(model, prompts, new_tokens, device, vocabulary)
    else:
        written = _uncached(model, prompts, new_tokens, device, vocabulary, padding)
    return [until_end(row, vocabulary.end) for row in written]


def pad(
    rows: Sequence[Sequence[int]], padding: Padding, device: torch.device, filler: int = VOCABULARY.padding
) -> tuple[Int[Tensor, "B n"], Bool[Tensor, "B n"]]:
    """Return rows made equally long, and which of their tokens are not padding."""
    length = max(map(len, rows))
    tokens, valid = [], []
    for row in rows:
        rest = length - len(row)
        around = [filler] * rest
        tokens.append([*around, *row] if padding == "left" else [*row, *around])
        valid.append([False] * rest + [True] * len(row) if padding == "left" else [True] * len(row) + [False] * rest)
    return torch.tensor(tokens, device=device), torch.tensor(valid, device=device)


def _cached(
    model: GPT, prompts: Sequence[Sequence[int]], new_tokens: int, device: torch.device, vocabulary: Vocabulary
) -> list[list[int]]:
    tokens, valid = pad(prompts, "left", device, vocabulary.padding)
    padding = None if len(set(map(len, prompts))) == 1 else valid
    cache = model.new_cache()
    packing: Packing | None = last_tokens(len(prompts), tokens.shape[1], device)
    written: list[Tensor] = []
    ended = torch.zeros(len(prompts), dtype=torch.bool, device=device)
    for _ in range(new_tokens):
        tokens = model(tokens, padding, cache, packing).argmax(-1).view(len(prompts), -1)[:, -1:]
        padding = packing = None
        written.append(tokens)
        ended |= tokens[:, 0] == vocabulary.end
        if ended.all():
            break
    return torch.cat(written, dim=1).tolist() if written else [[] for _ in prompts]


def _uncached(
    model: GPT,
    prompts: Sequence[Sequence[int]],
    new_tokens: int,
    device: torch.device,
    vocabulary: Vocabulary,
    padding: Padding,
) -> list[list[int]]:
    """Read every token again at every step: slow and plain, the oracle of the cached path."""
    rows = [list(prompt) for prompt in prompts]
    for _ in range(new_tokens):
        tokens, valid = pad(rows, padding, device, vocabulary.padding)
        logits = model(tokens, valid)
        for index, row in enumerate(rows):
            last = -1 if padding == "left" else len(row) - 1
            row.append(int(logits[index, last].argmax()))
    return [row[len(prompt) :] for row, prompt in zip(rows, prompts, strict=True)]


def until_end(row: list[int], end: int) -> list[int]:
    """Return what is written up to the first `e`, whose id is `end`."""
    return row[: row.index(end) + 1] if end in row else row
