"""The words of a task as points of a cube, and what a model answers at every one of them.

Each symbol is a block of bits (`ldhd.boolean.Encoding`). Symbol 0, all +1, is the blank: a point stands for the word up
to its last symbol that is not 0, so that X_N0 holds the words of at most N0 symbols and no point has holes. The value
of an answer token is its code; `e` and what comes after it have that of the blank. The value of a model is the mean of
the codes under its distribution of the next token, the tokens before it being right. Models are not asked about the
empty word, all +1, which has the value of the blank.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ldhd.model import GPT
from ldhd.tasks import Instance, LatentSpace, Task
from ldhd.tasks.copy import Strings
from ldhd.tasks.digits import Digits, uniform
from ldhd.train.data import to_tensors

Floats = NDArray[np.float64]

CHUNK = 2**11
"""Words that a model reads at once."""


class Words(LatentSpace):
    """Words whose last symbol is not 0, and in training a share of `primed` words, each as often as the others."""

    def __init__(self, base: int, primed: Sequence[Digits] = (), share: float = 0.0):
        self.base, self.primed, self.share = base, list(primed), share

    def sample(self, scale: int, generator: torch.Generator) -> Digits:
        last = int(torch.randint(1, self.base, (), generator=generator))
        return (*uniform(scale - 1, self.base, generator), last)

    def scale(self, latent: Digits) -> int:
        return len(latent)

    def sample_training(self, scales: Sequence[int], size: int, generator: torch.Generator) -> list[Digits]:
        found = super().sample_training(scales, size, generator)
        if self.primed:
            chosen = torch.rand(size, generator=generator) < self.share
            which = torch.randint(len(self.primed), (size,), generator=generator)
            for row in torch.nonzero(chosen)[:, 0].tolist():
                found[row] = self.primed[int(which[row])]
        return found


def default_base(task: Task) -> int:
    """Return the number of symbols that a task is studied with; ValueError if its words are not strings of symbols."""
    if not isinstance(task.latent, Strings):
        raise ValueError(f"{task.name} does not read one string of symbols, as copy, reversal and parity do")
    return min(4, task.latent.base)


def check_base(task: Task, base: int) -> None:
    """ValueError unless so many symbols of the task fill a block of bits."""
    largest = default_base(task) and task.latent.base  # type: ignore[attr-defined]
    if not 2 <= base <= largest or base & (base - 1):
        allowed = ", ".join(str(2**k) for k in range(1, largest.bit_length()))
        raise ValueError(f"the symbols of {task.name} are {allowed}: a power of two, got {base}")


def codes(symbols: NDArray[np.int64], width: int) -> NDArray[np.int8]:
    """Return the bits of symbols, -1 where bit k of the number is set: shape (width, ...)."""
    bits = np.arange(width).reshape(-1, *[1] * symbols.ndim)
    return (1 - 2 * (symbols >> bits & 1)).astype(np.int8)


@dataclass(frozen=True, eq=False)
class WordCube:
    """X_N of a task: the words of at most `scale` symbols 0 .. base - 1."""

    task: Task
    base: int
    scale: int

    @property
    def width(self) -> int:
        """The bits of a symbol."""
        return self.base.bit_length() - 1

    @property
    def dimension(self) -> int:
        """The number of variables."""
        return self.scale * self.width

    @cached_property
    def symbols(self) -> NDArray[np.int64]:
        """The symbols of each point, 0 after its word: (2^D, N)."""
        places = self.width * np.arange(self.scale)
        found: NDArray[np.int64] = np.arange(2**self.dimension)[:, None] >> places & (self.base - 1)
        return found

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The scale of each point's word."""
        found: NDArray[np.int64] = np.max((self.symbols > 0) * np.arange(1, self.scale + 1), axis=1)
        return found

    def word(self, row: int) -> Digits:
        """Return the word of a point."""
        return tuple(self.symbols[row, : self.lengths[row]].tolist())

    @cached_property
    def instances(self) -> list[Instance]:
        """The instance of each point but the empty word's, which is the first."""
        return [self.task.instance(self.word(row)) for row in range(1, 2**self.dimension)]

    @cached_property
    def answers(self) -> NDArray[np.int64]:
        """The symbols of each point's answer, 0 after its end: (2^D, longest)."""
        written = [answer_symbols(instance, self.base) for instance in self.instances]
        found = np.zeros((2**self.dimension, max(map(len, written))), np.int64)
        for row, symbols in enumerate(written, start=1):
            found[row, : len(symbols)] = symbols
        return found

    @cached_property
    def answer_lengths(self) -> NDArray[np.int64]:
        """The number of symbols of each point's answer."""
        return np.array([0, *(len(instance.answer) - 1 for instance in self.instances)])

    def evaluate(self, model: GPT) -> tuple[Floats, dict[str, float]]:
        """Return the values of all answer tokens, (tokens, width, 2^D), and the exact match at each scale."""
        tokens = self.answers.shape[1]
        values = np.ones((tokens, self.width, 2**self.dimension))
        right = np.zeros(2**self.dimension, bool)
        for rows in self._batches():
            batch = [self.instances[row - 1] for row in rows]
            inputs, targets = to_tensors(batch, vocabulary=self.task.vocabulary)
            logits = next_tokens(model, inputs)
            asked = targets >= 0
            right[rows] = ((logits.argmax(-1) == targets) | ~asked).all(1).numpy()
            expected = expected_codes(logits, self.base)
            start = len(batch[0].prompt) - 1
            for token in range(min(tokens, asked.shape[1] - start)):
                chosen = asked[:, start + token].numpy()
                values[token][:, rows[chosen]] = expected[:, chosen, start + token]
        scales = range(1, self.scale + 1)
        return values, {str(n): float(right[self.lengths == n].mean()) for n in scales}

    def _batches(self) -> list[NDArray[np.int64]]:
        """Points whose words have the same length, at most `CHUNK` at a time."""
        by_length = [np.flatnonzero(self.lengths == n) for n in range(1, self.scale + 1)]
        return [rows[start : start + CHUNK] for rows in by_length for start in range(0, len(rows), CHUNK)]


def answer_symbols(instance: Instance, base: int) -> list[int]:
    """Return the symbols of an answer; ValueError if one of them is not below the base."""
    answer = instance.answer.removesuffix("e")
    if not answer.isdecimal() or (answer and int(max(answer)) >= base):
        raise ValueError(f"the answer to {instance.prompt!r} is {answer!r}, not of the symbols 0 .. {base - 1} alone")
    return [int(symbol) for symbol in answer]


@torch.no_grad()
def next_tokens(model: GPT, inputs: Tensor) -> Tensor:
    """Return the logits of the token after each token."""
    logits: Tensor = model(inputs, exploring=False)
    return logits.float()


def expected_codes(logits: Tensor, base: int) -> Floats:
    """Return the mean code of the next token, what is no symbol having that of the blank: (width, ...)."""
    shares = logits.softmax(-1)[..., :base].numpy().astype(np.float64)
    code = codes(np.arange(base), base.bit_length() - 1)
    found: Floats = np.moveaxis(shares @ (code - 1).T + 1, -1, 0)
    return found
