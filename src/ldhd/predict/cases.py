"""The strings a prediction is about: one case for each shape of string, with what every answer token needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from ldhd.tasks.task import Latent, Needs, Task

SAMPLED = 64
"""Instances drawn at each scale of a task whose latent space does not list its shapes."""

MOST_SHAPES = 40
"""Shapes looked at in one scale; of more, as many, evenly spread over their list. `addition` has 38 at scale 10."""


@dataclass(frozen=True)
class Case:
    """All strings of one shape: a representative, and which characters each of its places can hold."""

    text: str
    start: int
    """Where the answer begins; answer token t is asked for at query start + t - 1."""
    scale: int
    needs: Needs
    contents: tuple[frozenset[str], ...]


class Source(Protocol):
    """What a prediction needs to know of a task."""

    @property
    def name(self) -> str: ...

    @property
    def train_scales(self) -> Sequence[int]: ...

    @property
    def exchangeable(self) -> Sequence[Sequence[str]]: ...

    @property
    def enumerated(self) -> bool:
        """Whether `cases` lists every shape, up to `MOST_SHAPES` a scale; otherwise it drew `SAMPLED` instances."""
        ...

    def cases(self, scales: Sequence[int]) -> list[Case]:
        """Every shape of these scales."""
        ...


@dataclass(frozen=True)
class TaskSource:
    """A task of `ldhd.tasks`, or a user's own, in the format of a run over `run_scales`."""

    task: Task
    run_scales: tuple[int, ...]
    known: dict[int, list[Case]] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def train_scales(self) -> Sequence[int]:
        return self.task.train_scales

    @property
    def exchangeable(self) -> Sequence[Sequence[str]]:
        return self.task.format.exchangeable

    @property
    def enumerated(self) -> bool:
        return self.task.latent.shapes(1) is not None

    def cases(self, scales: Sequence[int]) -> list[Case]:
        for scale in set(scales) - self.known.keys():
            self.known[scale] = spread(list(self._cases(scale)))
        return [case for scale in scales for case in self.known[scale]]

    def _cases(self, scale: int) -> Iterator[Case]:
        task = self.task.for_scales(self.run_scales)
        found: dict[str, list[tuple[str, int, Needs]]] = {}
        for latent in self._latents(scale):
            instance = task.instance(latent)
            needs = task.needs(instance)
            check_needs(task.name, instance.text, len(instance.prompt), needs)
            key = shape_of(instance.text) + repr(needs)
            found.setdefault(key, []).append((instance.text, len(instance.prompt), needs))
        for group in found.values():
            text, start, needs = group[0]
            contents = tuple(frozenset(column) for column in zip(*(text for text, _, _ in group), strict=True))
            yield Case(text, start, scale, needs, contents)

    def _latents(self, scale: int) -> list[Latent]:
        shapes = self.task.latent.shapes(scale)
        if shapes is not None:
            return shapes
        stream = torch.Generator().manual_seed(scale)
        return [self.task.latent.sample(scale, stream) for _ in range(SAMPLED)]


def spread(cases: list[Case]) -> list[Case]:
    """At most `MOST_SHAPES` of these, the first and the last among them."""
    if len(cases) <= MOST_SHAPES:
        return cases
    return [cases[round(k * (len(cases) - 1) / (MOST_SHAPES - 1))] for k in range(MOST_SHAPES)]


def delimiters(cases: Sequence[Case]) -> list[str]:
    """The tokens of the prompts that are no digits, in the order they come."""
    return list(dict.fromkeys(t for case in cases for t in case.text[: case.start] if not t.isdigit()))


def shape_of(text: str) -> str:
    """`b12+3=` -> `b##+#=`."""
    return "".join(map(type_of, text))


def type_of(token: str) -> str:
    """What a first layer can tell of a token without knowing which digit it is: `#` for a digit, else itself."""
    return "#" if token.isdigit() else token


def check_needs(name: str, text: str, start: int, needs: Needs | Sequence[Mapping[str, Any]]) -> None:
    """ValueError that points at the first answer token whose needs cannot be."""
    if len(needs) != len(text) - start:
        raise ValueError(f"{name}: {text!r} has {len(text) - start} answer tokens, but needs of {len(needs)}")
    for t, slots in enumerate(needs):
        for slot, index in slots.items():
            if index is None or (isinstance(index, int) and 0 <= index < start + t):
                continue
            where = f"{name}: answer token {t}, {text[start + t]!r} at index {start + t} of {text!r}"
            if isinstance(index, int) and start + t <= index < len(text):
                raise ValueError(f"{where}, needs {slot} at index {index}, which is not written before it")
            raise ValueError(
                f"{where}, needs {slot} at {index!r}; an index is a whole number from 0 to {start + t - 1}"
            )
