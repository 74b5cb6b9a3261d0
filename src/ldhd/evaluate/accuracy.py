"""Accuracy at a scale, by free-running greedy decoding."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from ldhd import seeds
from ldhd.boolean.memory import check_memory
from ldhd.evaluate.decode import greedy
from ldhd.model import GPT
from ldhd.statistics import wilson
from ldhd.tasks import Instance, Task
from ldhd.tasks.tokens import VOCABULARY, Vocabulary

LARGEST_BATCH = 256
LARGEST_ATTENTION = 8_000_000
"""The largest number of pairs of positions, over a batch, whose attention is in memory at once for each head."""

KEPT_FOR_TOKEN = 64
"""What decoding keeps of each token, in pairs of positions: keys, values, and what an embedding keeps."""


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**9)]
CarryRows = list[tuple[Count, Count, Count, Count]]


def _check_carries(rows: CarryRows | None) -> CarryRows | None:
    if any(right > n for _, _, right, n in rows or []):
        raise ValueError("more answers are right than there are")
    return rows


@dataclass(frozen=True, slots=True)
class ScaleResult:
    """Accuracy on `n` instances of one scale; `low` and `high` bound `exact` with 95 % confidence."""

    scale: Annotated[int, Field(ge=1, le=10**5)]
    n: Annotated[int, Field(ge=1, le=10**9)]
    exact: Share
    low: Share
    high: Share
    per_token: Share
    per_position: Annotated[list[Share], Field(min_length=1)]
    carries: Annotated[
        CarryRows | None, AfterValidator(_check_carries), Field(exclude_if=lambda value: value is None)
    ] = None
    """Rows of answer token, places that its carry has travelled, right answers, all answers; None without carries."""


@dataclass(frozen=True)
class HardResult:
    """Exact match on the `n` hard instances of one scale."""

    scale: Annotated[int, Field(ge=1, le=10**5)]
    n: Annotated[int, Field(ge=1, le=10**9)]
    exact: Share


def evaluate_hard(model: GPT, task: Task, scale: int) -> HardResult | None:
    """Test a model on the hard instances of a scale; None if the task lists none."""
    instances = task.hard(scale)
    return HardResult(scale, len(instances), score(model, task, instances).exact) if instances else None


def evaluate(model: GPT, task: Task, scale: int, n: int, seed: int) -> ScaleResult:
    """Test a model on `n` instances of a scale.

    Exact match requires the whole answer, `e` included. Token k is right if the k-th token written equals it.
    """
    return score(model, task, sample_test_instances(task, scale, n, seed))


def sample_test_instances(task: Task, scale: int, n: int, seed: int) -> list[Instance]:
    """Draw test instances; they depend on task, scale and seed alone, so they are the same for every embedding."""
    stream = seeds.generator(seed, "test", task.name, scale)
    return [task.sample(scale, stream) for _ in range(n)]


def score(model: GPT, task: Task, instances: Sequence[Instance]) -> ScaleResult:
    """Test a model on instances of one scale."""
    hits: list[list[bool]] = []
    encode = task.vocabulary.encode
    ordered = sorted(instances, key=lambda instance: len(instance.prompt))
    size = _batch_size(model, max(len(instance.text) for instance in instances))
    for start in range(0, len(ordered), size):
        batch = ordered[start : start + size]
        answers = [encode(instance.answer) for instance in batch]
        prompts = [encode(instance.prompt) for instance in batch]
        written = greedy(model, prompts, max(map(len, answers)), vocabulary=task.vocabulary)
        hits += [_hits(row, answer) for row, answer in zip(written, answers, strict=True)]
    exact = sum(all(row) for row in hits)
    low, high = wilson(exact, len(hits))
    by_position = [[row[place] for row in hits if place < len(row)] for place in range(max(map(len, hits)))]
    return ScaleResult(
        scale=instances[0].scale,
        n=len(hits),
        exact=exact / len(hits),
        low=low,
        high=high,
        per_token=sum(map(sum, hits)) / sum(map(len, hits)),
        per_position=[sum(column) / len(column) for column in by_position],
        carries=_by_carry(task, ordered, hits),
    )


def answers(model: GPT, prompts: Sequence[str], longest: int, vocabulary: Vocabulary = VOCABULARY) -> list[str]:
    """Return what a model writes to some prompts, up to `longest` tokens each."""
    order = sorted(range(len(prompts)), key=lambda k: len(prompts[k]))
    size = _batch_size(model, len(prompts[order[-1]]) + longest)
    written = [""] * len(prompts)
    for start in range(0, len(order), size):
        own = order[start : start + size]
        rows = greedy(model, [vocabulary.encode(prompts[k]) for k in own], longest, vocabulary=vocabulary)
        for k, row in zip(own, rows, strict=True):
            written[k] = vocabulary.decode(row)
    return written


def check_decoding(model: GPT, longest: int) -> None:
    """Raise ValueError if decoding a string of so many tokens does not fit into memory."""
    check_memory(decoding_memory(model, longest), f"decoding a string of {longest} tokens", bytes_each=1)


def decoding_memory(model: GPT, longest: int) -> int:
    """Return about how many bytes are needed to decode one string, whose length with its answer is `longest`."""
    config = model.config
    if model.needs_pairs:  # logits, position terms and weights
        return 4 * 3 * config.heads * longest**2
    # while a prompt is read: hidden states, their norm and their values; then keys and values, with room to grow; and
    # what an embedding finds out about each token in each head
    return 4 * longest * (16 * config.dimension + 32 * config.heads)


def _batch_size(model: GPT, longest: int) -> int:
    """Return how many strings of a length are decoded at once; ValueError if one does not fit into memory."""
    check_decoding(model, longest)
    pairs = longest * (max(longest, KEPT_FOR_TOKEN) if model.needs_pairs else KEPT_FOR_TOKEN)
    return max(1, min(LARGEST_BATCH, LARGEST_ATTENTION // pairs))


def _by_carry(
    task: Task, instances: Sequence[Instance], hits: Sequence[Sequence[bool]]
) -> list[tuple[int, int, int, int]] | None:
    counts: dict[tuple[int, int], list[bool]] = {}
    for instance, row in zip(instances, hits, strict=True):
        lengths = task.carries(instance)
        if lengths is None:
            return None
        for token, (length, right) in enumerate(zip(lengths, row, strict=True)):
            counts.setdefault((token, length), []).append(right)
    return [(*place, sum(right), len(right)) for place, right in sorted(counts.items())]


def _hits(written: list[int], answer: list[int]) -> list[bool]:
    return [place < len(written) and written[place] == token for place, token in enumerate(answer)]
