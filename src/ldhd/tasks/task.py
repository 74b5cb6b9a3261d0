"""Abstraction 1 of the paper: latent variable -> concept -> data format.

A task is made of three replaceable parts. The latent space says what an instance of scale n is, the concept
computes its label, and the format writes both as a string. Aligned and unaligned addition share the first two
and differ in the third only (Examples 1 and 2).
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

Latent = Any
Label = Any
Needs = list[dict[str, int | None]]


@dataclass(frozen=True)
class Instance:
    """One problem: the model reads `prompt` and must write `answer`, which ends in `e`."""

    prompt: str
    answer: str
    scale: int
    latent: Latent

    @property
    def text(self) -> str:
        return self.prompt + self.answer


class LatentSpace(ABC):
    """Sigma^n for every scale n."""

    @abstractmethod
    def sample(self, scale: int, generator: torch.Generator) -> Latent:
        """A latent variable of exactly this scale."""

    @abstractmethod
    def scale(self, latent: Latent) -> int:
        """The scale of a latent variable."""

    def sample_training(self, scales: Sequence[int], size: int, generator: torch.Generator) -> list[Latent]:
        """`size` latent variables of the training distribution: the scales in turn, so each equally often."""
        return [self.sample(scales[index % len(scales)], generator) for index in range(size)]

    def training_size(self, scales: Sequence[int]) -> int:
        """The size of the paper's training set: 2000 for each scale."""
        return 2000 * len(scales)

    def longest(self, scale: int) -> Latent:
        """A latent variable of this scale whose string is as long as any; usually all are equally long."""
        return self.sample(scale, torch.Generator().manual_seed(0))

    def shapes(self, scale: int) -> list[Latent] | None:
        """Latent variables of this scale that show every shape of string, and every token that can differ, differing.

        Instances of one shape differ in the values of their digits only. None if the shapes are not known.
        """
        return None


class Format(ABC):
    """How a latent variable and its label become a string."""

    exchangeable: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Groups of slots whose contents can be swapped without changing the answer token, such as both addends' digits."""

    @abstractmethod
    def prompt(self, latent: Latent) -> str:
        """What the model is given, from `b` to `=`."""

    @abstractmethod
    def answer(self, latent: Latent, label: Label) -> str:
        """What the model must write, `e` included."""

    @abstractmethod
    def read(self, prompt: str) -> Latent:
        """The latent variable of a prompt; ValueError if the prompt is not of this format."""

    @abstractmethod
    def needs(self, latent: Latent, label: Label) -> Needs:
        """For each answer token, slot name -> index in prompt + answer of the token that carries it.

        None marks a slot that is absent: a shorter addend has run out, or there is no previous digit yet.
        A token that depends on no slot has an empty dict.
        """

    def carries(self, latent: Latent) -> list[int] | None:
        """Over how many places the carry into each place of the answer has travelled; None if nothing is carried."""
        return None

    def for_scales(self, scales: Sequence[int]) -> "Format":
        """The format of a run over these scales; only formats of a fixed width depend on them."""
        return self


@dataclass(frozen=True)
class Task:
    """A latent space, a concept and a format, with the scales the paper trains on."""

    name: str
    latent: LatentSpace
    concept: Callable[[Latent], Label]
    format: Format
    train_scales: tuple[int, ...] = (1, 2, 3, 4, 5)

    def sample(self, scale: int, generator: torch.Generator) -> Instance:
        """An instance of exactly this scale."""
        _check_scales([scale])
        return self.instance(self.latent.sample(scale, generator))

    def sample_training(self, scales: Sequence[int], size: int, generator: torch.Generator) -> list[Instance]:
        """`size` instances of the paper's training distribution on these scales."""
        _check_scales(scales)
        return [self.instance(latent) for latent in self.latent.sample_training(scales, size, generator)]

    def read(self, prompt: str) -> Instance:
        """The instance with this prompt, its answer computed; ValueError if it is no prompt of this task."""
        instance = self.instance(self.format.read(prompt))
        if instance.prompt != prompt:
            raise ValueError(f"{prompt!r} is not how {self.name} writes it: {instance.prompt!r}")
        return instance

    def needs(self, instance: Instance) -> Needs:
        """For each answer token, the positions of the tokens that determine it; see `Format.needs`."""
        return self.format.needs(instance.latent, self.concept(instance.latent))

    def carries(self, instance: Instance) -> list[int] | None:
        """For each answer token, over how many places the carry into it has travelled; None if nothing is carried."""
        lengths = self.format.carries(instance.latent)
        return None if lengths is None else [*lengths, *[0] * len(instance.answer)][: len(instance.answer)]

    def for_scales(self, scales: Sequence[int]) -> "Task":
        """This task in the format of a run over these scales; see `Format.for_scales`."""
        task = copy.copy(self)
        object.__setattr__(task, "format", self.format.for_scales(scales))
        return task

    def instance(self, latent: Latent) -> Instance:
        """The string of a latent variable."""
        answer = self.format.answer(latent, self.concept(latent))
        return Instance(self.format.prompt(latent), answer, self.latent.scale(latent), latent)


def _check_scales(scales: Sequence[int]) -> None:
    if not scales or min(scales) < 1:
        raise ValueError(f"scales are whole numbers from 1 up, got {list(scales)}")
