"""Greedy decoding against Hugging Face's `generate`, with the same weights, and against itself after short strings."""

from functools import partial
from pathlib import Path

import torch

from ldhd.bench.hugging_face import plain, same_gpt2
from ldhd.bench.memory import peak_memory
from ldhd.bench.ratio import Case, exponent, in_turn, summary
from ldhd.evaluate.decode import greedy, until_end
from ldhd.experiments import load_run
from ldhd.model import GPT, MODELS, DecodingCache
from ldhd.model.packing import last_tokens
from ldhd.positions import LatentWindow, RPESquare
from ldhd.tasks.tokens import PADDING, VOCABULARY, VOCABULARY_SIZE, encode

BATCH = 64
ROUNDS = 7
LENGTHS = ((12, 32), (100, 128))
"""(Tokens of the prompts, tokens to write)."""
FAR = (1_000, 10_000, 100_000)
"""Lengths of the strings after which one token is decoded by a latent window."""
TOKENS = 20
"""Tokens of one measurement of time."""


def decode_cases(
    models: tuple[str, ...] = ("small", "base"), lengths: tuple[tuple[int, int], ...] = LENGTHS, rounds: int = ROUNDS
) -> list[Case]:
    """Compare the tokens per second of greedy decoding, for each model and each (prompt, new tokens)."""
    return [case for name in models for prompt, new in lengths for case in _compare(name, prompt, new, rounds)]


def decoding_cases() -> list[Case]:
    """Compare greedy decoding with Hugging Face's, and after long strings with that after short ones."""
    return [*decode_cases(), *far_cases()]


def far_cases(lengths: tuple[int, ...] = FAR, rounds: int = ROUNDS) -> list[Case]:
    """Compare the time and the peak memory of decoding one token after short and long strings, and fit how the memory
    of reading a prompt grows; with the packaged model that copies, for one string."""
    _, _, model = load_run(Path("copy"))
    model.eval()
    digits = torch.randint(10, (max(lengths),), generator=torch.Generator().manual_seed(0)).tolist()
    prompts = {n: [*encode("b"), *digits[: n - 2], *encode("=")] for n in lengths}
    caches = {n: _read(model, prompt) for n, prompt in prompts.items()}
    actions = {f"{n}": partial(_decode, model, cache, TOKENS) for n, cache in caches.items()}
    seconds = in_turn(actions, rounds)
    peaks = {n: float(peak_memory(partial(_decode, model, cache, 1))) for n, cache in caches.items()}
    first, case, against = lengths[0], "decoding one token, latent-window", f"after {lengths[0]} tokens"
    cases = []
    for n in lengths[1:]:
        cases.append(summary(case, f"after {n} tokens", against, seconds[f"{n}"], seconds[f"{first}"], "cost"))
        cases.append(summary(case, f"after {n} tokens", against, [peaks[n]], [peaks[first]], "memory"))
    power = exponent(list(lengths), [float(peak_memory(partial(_read, model, prompts[n]))) for n in lengths])
    shape = f"{lengths[0]} to {lengths[-1]} tokens"
    return [*cases, Case("reading a prompt, latent-window, memory", shape, power, (power, power), "n", "exponent")]


@torch.inference_mode()
def _read(model: GPT, prompt: list[int]) -> DecodingCache:
    """Return what decoding keeps of a prompt."""
    cache, tokens = model.new_cache(), torch.tensor([prompt])
    model(tokens, None, cache, last_tokens(1, len(prompt), tokens.device))
    return cache


@torch.inference_mode()
def _decode(model: GPT, cache: DecodingCache, times: int) -> None:
    """Decode the token after a prompt several times, each time from the same cache."""
    token = torch.tensor([encode("1")])
    for _ in range(times):
        layers, positions = ([{**own} for own in part] for part in (cache.layers, cache.positions))
        model(token, None, DecodingCache(layers, positions, cache.seen))


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
    if greedy(ours, rows, new) != [until_end(row, VOCABULARY.end) for row in written]:
        raise ValueError("the strings of Hugging Face and ours differ")
    if all(VOCABULARY.end in row for row in written):
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
