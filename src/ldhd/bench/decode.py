"""Greedy decoding against Hugging Face's `generate`, with the same weights."""

from functools import partial

import torch

from ldhd.bench.hugging_face import plain, same_gpt2
from ldhd.bench.ratio import Case, in_turn, summary
from ldhd.evaluate.decode import END, greedy, until_end
from ldhd.model import GPT, MODELS
from ldhd.positions import LatentWindow, RPESquare
from ldhd.tasks.tokens import PADDING, VOCABULARY_SIZE

BATCH = 64
ROUNDS = 7
LENGTHS = ((12, 32), (100, 128))
"""(Tokens of the prompts, tokens to write)."""


def decode_cases(
    models: tuple[str, ...] = ("small", "base"), lengths: tuple[tuple[int, int], ...] = LENGTHS, rounds: int = ROUNDS
) -> list[Case]:
    """Compare the tokens per second of greedy decoding, for each model and each (prompt, new tokens)."""
    return [case for name in models for prompt, new in lengths for case in _compare(name, prompt, new, rounds)]


def _compare(name: str, prompt: int, new: int, rounds: int) -> list[Case]:
    torch.manual_seed(0)
    size = MODELS[name]
    ours, theirs = same_gpt2(plain(size))
    theirs.eval()
    others = {kind.name: GPT(size, VOCABULARY_SIZE, kind) for kind in (RPESquare, LatentWindow)}
    prompts = torch.randint(10, (BATCH, prompt))
    rows = prompts.tolist()

    @torch.no_grad()
    def generate() -> torch.Tensor:
        mask = torch.ones_like(prompts)
        return theirs.generate(
            prompts, attention_mask=mask, max_new_tokens=new, do_sample=False, pad_token_id=PADDING, eos_token_id=None
        )

    written = generate()[:, prompt:].tolist()
    if greedy(ours, rows, new) != [until_end(row) for row in written]:
        raise ValueError("the strings of Hugging Face and ours differ")
    if all(END in row for row in written):
        raise ValueError("all strings end early; there is nothing to compare")
    models = {"absolute": ours, **others}
    actions = {position: partial(greedy, model, rows, new) for position, model in models.items()}
    seconds = in_turn({**actions, "theirs": generate}, rounds)
    shape = f"{name}: {size.layers} layers, {size.heads} heads, dimension {size.dimension}, batch {BATCH}, "
    shape += f"{prompt} + {new} tokens"
    against = "Hugging Face GPT-2 generate"
    return [
        summary(f"greedy decoding, {position}", shape, against, seconds["theirs"], seconds[position], "speed")
        for position in models
    ]
