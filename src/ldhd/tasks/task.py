"""Abstraction 1 of the paper: latent variable -> concept -> data format.

A task has three replaceable parts: a latent space, whose elements of scale n are the instances; a concept, which
computes the label of an instance; and a format, which writes both as a string. Aligned and unaligned addition share
the first two and differ in the third (Examples 1 and 2).
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ldhd.tasks.tokens import VOCABULARY, Vocabulary

Latent = Any
Label = Any
Needs = list[dict[str, int | None]]
"""For each answer token, the index in the text of the token in each slot, or None where the slot is absent."""


@dataclass(frozen=True)
class Instance:
    """One exercise with its solution: the model reads `prompt` and has to write `answer`, which ends in `e`."""

    prompt: str
    answer: str
    scale: int
    latent: Latent

    @property
    def text(self) -> str:
        return self.prompt + self.answer


class LatentSpace(ABC):
    """The latent variables of a task at every scale n: Sigma^n in the paper."""

    @abstractmethod
    def sample(self, scale: int, generator: torch.Generator) -> Latent:
        """Draw a latent variable of exactly this scale."""

    @abstractmethod
    def scale(self, latent: Latent) -> int:
        """Return the scale of a latent variable."""

    def sample_training(self, scales: Sequence[int], size: int, generator: torch.Generator) -> list[Latent]:
        """Draw `size` latent variables of the training distribution; by default the scales take turns."""
        return [self.sample(scales[index % len(scales)], generator) for index in range(size)]

    def training_size(self, scales: Sequence[int]) -> int:
        """Return the size of the paper's training set: 2000 instances for each scale."""
        return 2000 * len(scales)

    def longest(self, scale: int) -> Latent:
        """Return a latent variable with the longest string of this scale; by default all are equally long."""
        return self.sample(scale, torch.Generator().manual_seed(0))

    def hard(self, scale: int) -> list[Latent]:
        """Return a fixed list of latent variables of this scale on which shortcuts fail, such as long carries."""
        return []

    def shapes(self, scale: int) -> list[Latent] | None:
        """Return latent variables of this scale that cover every shape of string; None if the shapes are not known.

        Where there are many hundreds of shapes, an even choice of them is enough. Instances of one shape differ in the
        values of their digits only. Every token that can vary within a shape has to vary among the latent variables
        returned.
        """
        return None


class Format(ABC):
    """How a latent variable and its label are written as a string."""

    vocabulary: Vocabulary = VOCABULARY
    """The tokens that it writes; its own if the usual ones do not suffice."""

    exchangeable: tuple[tuple[str, ...], ...] = ()
    """Groups of slots whose contents may be swapped without changing the answer, such as the digits of both addends."""

    by_content: str = ""
    """Why digits, not places, decide which tokens matter, as a clause; empty where places do. Predictions are about
    places alone, and do not apply to such a task."""

    @abstractmethod
    def prompt(self, latent: Latent) -> str:
        """Write the prompt, from `b` to `=`."""

    @abstractmethod
    def answer(self, latent: Latent, label: Label) -> str:
        """Write the answer, `e` included."""

    @abstractmethod
    def read(self, prompt: str) -> Latent:
        """Return the latent variable of a prompt; raise a ValueError if the prompt does not have this format."""

    @abstractmethod
    def needs(self, latent: Latent, label: Label) -> Needs:
        """Return, for each answer token, the index in prompt + answer of the token in each of its slots.

        The index is None where the slot is absent: a shorter addend has ended, or there is no previous digit yet. An
        answer token that depends on no slot has an empty dict.
        """

    def carries(self, latent: Latent) -> list[int] | None:
        """Return over how many places the carry into each place has travelled; None for tasks without carries."""
        return None

    def for_scales(self, scales: Sequence[int]) -> "Format":
        """Return the format of a run over these scales; only formats of a fixed width depend on them."""
        return self


@dataclass(frozen=True, init=False)
class Task:
    """A latent space, a concept and a format, with the training scales of the paper.

    A class of its own may have its parts as attributes, and the concept as a method; it is then made without arguments.
    """

    name: str
    latent: LatentSpace
    concept: Callable[[Latent], Label]
    format: Format
    train_scales: tuple[int, ...] = (1, 2, 3, 4, 5)

    def __init__(
        self,
        name: str | None = None,
        latent: LatentSpace | None = None,
        concept: Callable[[Latent], Label] | None = None,
        format: Format | None = None,
        train_scales: tuple[int, ...] | None = None,
    ):
        given = {"name": name, "latent": latent, "concept": concept, "format": format, "train_scales": train_scales}
        for part, value in given.items():
            if value is not None:
                object.__setattr__(self, part, value)
        missing = [part for part in given if not hasattr(self, part)]
        if missing:
            raise ValueError(f"a task needs its {', '.join(missing)}, as arguments or as attributes of its class")

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens of its strings."""
        return self.format.vocabulary

    def sample(self, scale: int, generator: torch.Generator) -> Instance:
        """Draw an instance of exactly this scale."""
        check_scales([scale])
        return self.instance(self.latent.sample(scale, generator))

    def sample_training(self, scales: Sequence[int], size: int, generator: torch.Generator) -> list[Instance]:
        """Draw `size` instances of the paper's training distribution on these scales."""
        check_scales(scales)
        return [self.instance(latent) for latent in self.latent.sample_training(scales, size, generator)]

    def hard(self, scale: int) -> list[Instance]:
        """Return the hard instances of a scale, each once; none if the latent space lists none."""
        check_scales([scale])
        latents = self.latent.hard(scale)
        instances = [self.instance(latent) for latent in latents]
        return list({instance.prompt: instance for instance in instances}.values())

    def read(self, prompt: str) -> Instance:
        """Return the instance with this prompt and its answer; raise a ValueError if it is no prompt of this task."""
        instance = self.instance(self.format.read(prompt))
        if instance.prompt != prompt:
            raise ValueError(f"{prompt!r} is not how {self.name} writes it: {instance.prompt!r}")
        return instance

    def needs(self, instance: Instance) -> Needs:
        """Return, for each answer token, the indices of the tokens that determine it; see `Format.needs`."""
        return self.format.needs(instance.latent, self.concept(instance.latent))

    def carries(self, instance: Instance) -> list[int] | None:
        """Return, for each answer token, over how many places the carry into it has travelled; None without carries."""
        lengths = self.format.carries(instance.latent)
        return None if lengths is None else [*lengths, *[0] * len(instance.answer)][: len(instance.answer)]

    def for_scales(self, scales: Sequence[int]) -> "Task":
        """Return this task in the format of a run over these scales; see `Format.for_scales`."""
        task = copy.copy(self)  # not `replace`: a subclass may have a constructor of its own
        object.__setattr__(task, "format", self.format.for_scales(scales))
        return task

    def instance(self, latent: Latent) -> Instance:
        """Return the instance of a latent variable."""
        answer = self.format.answer(latent, self.concept(latent))
        return Instance(self.format.prompt(latent), answer, self.latent.scale(latent), latent)


def check_scales(scales: Sequence[int]) -> None:
    """Raise a ValueError unless there are scales, all of them from 1 up."""
    if not scales or min(scales) < 1:
        raise ValueError(f"scales are whole numbers from 1 up, got {list(scales)}")
