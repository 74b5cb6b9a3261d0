"""My task: each digit of the answer is the sum, modulo 10, of a digit and the one before it.

    b407=447e

A task has three parts: a latent space, from which instances are drawn; a concept, which computes the label of an
instance; and a format, which writes both as a string. Change one at a time, and after each change run

    ldhd check my_task:MyTask        # what is wrong with it, one line each
    pytest test_my_task.py           # whether its answers are right
    ldhd tasks my_task:MyTask        # examples, and which tokens each answer token needs
"""

import torch

from ldhd.tasks import Format, LatentSpace, Needs, Task, digits
from ldhd.tasks.digits import Digits, index_of


class Strings(LatentSpace):
    """Strings of n digits. The scale n is what grows: a model is trained on small scales and tested on large ones."""

    def sample(self, scale: int, generator: torch.Generator) -> Digits:
        """Draw an instance of exactly this scale; all random numbers come from the generator."""
        return digits.uniform(scale, 10, generator)

    def scale(self, latent: Digits) -> int:
        return len(latent)

    def hard(self, scale: int) -> list[Digits]:
        """List instances on which shortcuts fail, such as long carries; they are tested beside the random ones."""
        return [(0,) * scale, (9,) * scale, tuple(9 * (k % 2) for k in range(scale))]

    def shapes(self, scale: int) -> list[Digits]:
        """List an instance of every shape, with other digits in another one; with them, predictions are exact.

        Leave this method out if the shapes are many: predictions are then made from samples. Where strings of one
        scale have different lengths, override `longest` too.
        """
        return [(0,) * scale, (1,) * scale, (2,) * scale]


class Lines(Format):
    """`b x_0 ... x_{n-1} = z_0 ... z_{n-1} e`: a prompt begins with `b` and ends with `=`, an answer ends with `e`.

    >>> b407=447e
    >>> b99=98e

    Tokens are single characters: the digits and `b`, `e`, `=`, `+`, `*`, `\\`. For others, give the class a vocabulary
    (`from ldhd.tasks import Vocabulary`); its symbols, such as these letters, are then treated as digits are:

        vocabulary = Vocabulary(symbols="ACDF", separators=",")
    """

    def prompt(self, latent: Digits) -> str:
        return f"b{digits.write(latent)}="

    def answer(self, latent: Digits, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Digits:
        """Return the latent variable of a prompt; a ValueError says what is wrong with any other text."""
        return digits.read(digits.inside(prompt, "b407="), "the string")

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """Say for each answer token which earlier tokens determine it: the index of each, or None if there is none.

        The token z_t needs x_t and x_{t-1}; `e` follows where there is no x_t. Slots have the same names for all
        tokens: a head of a model has to find each of them by its place.
        """
        n = len(latent)
        return [{"x": index_of(t, 1, n), "x_previous": index_of(t - 1, 1, n)} for t in range(n + 1)]


class MyTask(Task):
    """The three parts together, under a name for tables and figures."""

    name = "my-task"
    latent = Strings()
    format = Lines()

    def concept(self, latent: Digits) -> Digits:
        """Compute the label of an instance."""
        return tuple((x + before) % 10 for x, before in zip(latent, (0, *latent), strict=False))
