"""The strings that a prediction is about: one representative of each shape, with the needs of its answer tokens."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ldhd.tasks.task import Instance, Latent, Needs, Task
from ldhd.tasks.tokens import shape_of

SAMPLED = 64
"""The number of instances drawn at each scale of a task whose latent space does not list its shapes."""

MOST_TRAINED, MOST_TESTED = 12, 8
"""The largest number of shapes used at one scale, in training and in tests; `addition` has 38 at scale 10."""

MOST_PAIRS = 10_000
"""Where strings are long, the shapes of one scale have so many answer tokens times tokens in all, but two are kept."""


@dataclass(frozen=True)
class StringShape:
    """All strings of one shape with the same needs."""

    text: str
    """One of the strings."""
    start: int
    """The index at which the answer begins; answer token t is written at query start + t - 1."""
    scale: int
    needs: Needs
    contents: tuple[frozenset[str], ...]
    """For each index, the characters that occur there."""


class ShapeSource(ABC):
    """What the predictor needs to know about a task."""

    name: str
    train_scales: tuple[int, ...]
    exchangeable: tuple[tuple[str, ...], ...]
    enumerated: bool
    """Whether `shapes_at` lists every shape; otherwise it draws `SAMPLED` instances."""

    @abstractmethod
    def shapes_at(self, scale: int) -> list[StringShape]:
        """List the shapes of one scale."""

    by_content: str = ""
    """Why the digits themselves decide which tokens matter, if they do; see `Format.by_content`."""

    def shapes(self, scales: Sequence[int], count: int = MOST_TRAINED) -> list[StringShape]:
        """List at most `count` shapes of each scale, evenly spaced, the first and the last among them.

        They are fewer, but two at least, where they would have more than `MOST_PAIRS` answer tokens times tokens.
        """
        found = []
        for shapes in map(self.shapes_at, scales):
            pairs = max(len(shape.text) * len(shape.needs) for shape in shapes)
            last, most = len(shapes) - 1, max(2, min(count, MOST_PAIRS // pairs)) - 1
            found += shapes if last <= most else [shapes[round(k * last / most)] for k in range(most + 1)]
        return found


class TaskShapes(ShapeSource):
    """The shapes of a `Task`, in the format of a run over `run_scales`."""

    def __init__(self, task: Task, run_scales: Sequence[int]):
        self.task = task.for_scales(run_scales)
        self.name, self.train_scales, self.exchangeable = task.name, task.train_scales, task.format.exchangeable
        self.enumerated, self.by_content = task.latent.shapes(1) is not None, task.format.by_content
        self._known: dict[int, list[StringShape]] = {}

    def shapes_at(self, scale: int) -> list[StringShape]:
        if scale not in self._known:
            self._known[scale] = self._find_shapes(scale)
        return self._known[scale]

    def _find_shapes(self, scale: int) -> list[StringShape]:
        groups: dict[str, list[Instance]] = {}
        for latent in self._latents(scale):
            instance = self.task.instance(latent)
            needs = self.task.needs(instance)
            check_needs(self.name, instance.text, len(instance.prompt), needs)
            groups.setdefault(shape_of(self._text(instance)) + repr(needs), []).append(instance)
        found = []
        for group in groups.values():
            first = group[0]
            contents = tuple(map(frozenset, zip(*map(self._text, group), strict=True)))
            found.append(StringShape(self._text(first), len(first.prompt), scale, self.task.needs(first), contents))
        return found

    def _text(self, instance: Instance) -> str:
        """Return the text with a digit for each symbol, which is all that a prediction asks of a symbol."""
        return self.task.vocabulary.as_digits(instance.text)

    def _latents(self, scale: int) -> list[Latent]:
        shapes = self.task.latent.shapes(scale)
        if shapes is not None:
            return shapes
        stream = torch.Generator().manual_seed(scale)
        return [self.task.latent.sample(scale, stream) for _ in range(SAMPLED)]


def delimiters(shapes: Sequence[StringShape]) -> list[str]:
    """Return the delimiters of the prompts in the order in which they first occur."""
    return list(dict.fromkeys(token for shape in shapes for token in shape.text[: shape.start] if not token.isdigit()))


def check_needs(name: str, text: str, start: int, needs: Needs) -> None:
    """Raise a ValueError that names the first answer token whose needs are impossible."""
    if len(needs) != len(text) - start:
        raise ValueError(f"{name}: {text!r} has {len(text) - start} answer tokens, but needs of {len(needs)}")
    for place, slots in enumerate(needs, start):
        for slot, index in slots.items():
            if index is None or (isinstance(index, int) and 0 <= index < place):
                continue
            where = (
                f"{name}: answer token {place - start}, {text[place]!r} at index {place} of {text!r}, needs {slot} at"
            )
            if isinstance(index, int) and place <= index < len(text):
                raise ValueError(f"{where} index {index}, which is not written before it")
            raise ValueError(f"{where} {index!r}; an index is a whole number from 0 to {place - 1}")
