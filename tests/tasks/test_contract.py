"""What is wrong with a task is said in one line; each task here has one mistake."""

import random
from dataclasses import replace

import pytest

from ldhd.tasks import TASKS, Vocabulary
from ldhd.tasks.contract import problems
from ldhd.tasks.copy import CopyFormat, Strings, identity
from ldhd.tasks.difference import DIFFERENCE, DifferenceFormat
from ldhd.tasks.task import Task

COPY = TASKS["copy"]


def written(**methods):
    """Copy in a format of which some methods are replaced."""
    return replace(COPY, format=type("Written", (CopyFormat,), methods)())


def drawn(**methods):
    """Copy on a latent space of which some methods are replaced."""
    return replace(COPY, latent=type("Drawn", (Strings,), methods)(10))


def other(method, result):
    """The method of copy's format or space with its result changed."""
    original = getattr(CopyFormat if hasattr(CopyFormat, method) else Strings, method)
    return {method: lambda *arguments: result(original(*arguments))}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (written(**other("answer", lambda text: text[:-1])), "must end with 'e', where a model stops writing"),
        (written(**other("answer", lambda text: "e" + text)), "must have one 'e', at its end"),
        (written(**other("answer", lambda text: None)), "the answer must be a string, got None"),
        (written(**other("prompt", lambda text: text[1:])), "must begin with 'b' and end with '='"),
        (written(**other("answer", lambda text: "x" + text)), "character 'x' in 'b"),
        (written(vocabulary=Vocabulary("01")), "is no token; the tokens are 01be=+*\\"),
        (drawn(scale=lambda self, latent: 1), "an instance sampled at scale 2 has scale 1"),
        (
            drawn(sample=lambda self, scale, generator: tuple(random.choices(range(10), k=scale))),
            "sampling depends on more than its generator",
        ),
        (drawn(sample_training=lambda self, scales, size, generator: []), "returns 0 instances instead of 60"),
        (
            drawn(sample_training=lambda self, scales, size, stream: [self.sample(2, stream) for _ in range(size)]),
            "on scales 2 and 4 draws scales [2]",
        ),
        (written(**other("read", list)), "returns the latent variable [4] instead of (4,)"),
        (written(read=lambda self, prompt: (1,)), "is not how copy writes it"),
        (
            written(read=lambda self, prompt: () if prompt[0] != "b" else CopyFormat.read(self, prompt)),
            "read('') raises IndexError instead of a ValueError",
        ),
        (written(**other("needs", lambda needs: needs[1:])), "has 2 answer tokens, but needs of 1"),
        (
            written(**other("needs", lambda needs: [{"x": 99} for _ in needs])),
            "at index 3 of 'b4=4e' needs x at index 99, which is not before it",
        ),
        (
            written(**other("needs", lambda needs: [{} for _ in needs])),
            "the needs do not determine the token: with no needs it is",
        ),
        (
            replace(DIFFERENCE, format=type("Swapped", (DifferenceFormat,), {"exchangeable": (("x", "y"),)})()),
            "x and y are not exchangeable: with ",
        ),
        (drawn(shapes=lambda self, scale: []), "shapes(1) lists no string of the shape and the needs of 'b"),
        (drawn(shapes=lambda self, scale: [(0,) * scale]), "shapes(1) has '0' alone at index 1"),
        (drawn(shapes=lambda self, scale: [(0,), (1,)]), "shapes(2) lists 'b0=0e' of scale 1"),
        (drawn(longest=lambda self, scale: (1,)), "longest(2) has scale 1"),
        (drawn(hard=lambda self, scale: [(1,)]), "hard(2) lists 'b1=' of scale 1"),
        (
            drawn(hard=lambda self, scale: [(k // 10, k % 10, *[0] * (scale - 2)) for k in range(60)]),
            "hard(1) lists 60 instances",
        ),
        (drawn(sample=lambda self, scale, generator: {}[scale]), "<lambda>: KeyError: 1"),
    ],
)
def test_each_mistake_is_named(task, message):
    found = problems(task)
    assert any(message in problem for problem in found), found
    assert not any("\n" in problem for problem in found)


def test_the_longest_string_is_no_shorter_than_any():
    space = type("Short", (type(TASKS["addition"].latent),), {"longest": lambda self, scale: ((1,) * scale, (1,))})()
    assert any("is longer" in problem for problem in problems(replace(TASKS["addition"], latent=space)))


def test_a_right_task_has_no_problems():
    assert problems(Task("another", Strings(10), identity, CopyFormat())) == []
