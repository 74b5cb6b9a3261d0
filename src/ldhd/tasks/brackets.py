"""A Dyck language: whether brackets are balanced, with a chain of thought that tells how many are open."""

from typing import NamedTuple

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task
from ldhd.tasks.tokens import Vocabulary

DEEPEST = 9
"""The largest number of brackets that may be open at once."""
BROKEN = "X"
"""The state after a bracket that closes none, or that opens one too many; it stays."""


class BracketStrings(LatentSpace):
    """Strings of n brackets: half of them are balanced, if n is even, and in the others one bracket is turned round."""

    def sample(self, scale: int, generator: torch.Generator) -> str:
        """Draw a walk within `DEEPEST` that ends at 0, or at 1 if n is odd; turn one bracket in half of the strings."""
        walk, depth = "", 0
        coins = torch.randint(2, (scale,), generator=generator).tolist()
        for left, coin in zip(range(scale, 0, -1), coins, strict=True):
            opens = depth == 0 or (bool(coin) and depth < min(DEEPEST, left - 1))
            walk += "(" if opens else ")"
            depth += 1 if opens else -1
        if int(torch.randint(2, (), generator=generator)):
            place = int(torch.randint(scale, (), generator=generator))
            walk = walk[:place] + ("(" if walk[place] == ")" else ")") + walk[place + 1 :]
        return walk

    def scale(self, latent: str) -> int:
        return len(latent)

    def hard(self, scale: int) -> list[str]:
        """List pairs in a row, the deepest nesting, brackets that close too early or too late, and too many of them."""
        pairs = "()" * (scale // 2) + "(" * (scale % 2)
        half = min(DEEPEST, scale // 2)
        deep = "(" * half + ")" * half
        found = [pairs, deep + pairs, (deep or "(") * scale, ")" + pairs, pairs[:-1] + ")", "(" * scale, ")" * scale]
        return [text[:scale] for text in found]

    def shapes(self, scale: int) -> list[str]:
        """Return strings of the only shape, among which every bracket, every state and the verdict vary."""
        return ["(" * scale, ")" * scale, ("()" * scale)[:scale], (")" + "(" * scale)[:scale]]


class States(NamedTuple):
    """How many brackets are open after each one, or `BROKEN`, and whether the string is balanced."""

    after: str
    balanced: bool


def open_brackets(latent: str) -> States:
    after, state = "", 0
    for bracket in latent:
        state += 1 if bracket == "(" else -1
        if BROKEN in after or not 0 <= state <= DEEPEST:
            after += BROKEN
        else:
            after += str(state)
    return States(after, after.endswith("0"))


class BracketsFormat(Format):
    """`b x_0 ... x_{n-1} = y_0 ... y_{n-1} z e`: y_k brackets are open after x_k; z is `Y` if x is balanced, else `N`.

    >>> b(())=1210Ye
    >>> b())(=10XXNe

    At most nine brackets may be open, so that a digit tells how many; y is `X` from the first bracket on that breaks
    this or that closes none. By the theory the chain of thought is needed: without it the verdict depends on every
    bracket, with it each token depends on at most two.
    """

    vocabulary = Vocabulary("0123456789X()YN", "")

    def prompt(self, latent: str) -> str:
        return f"b{latent}="

    def answer(self, latent: str, label: States) -> str:
        return f"{label.after}{'Y' if label.balanced else 'N'}e"

    def read(self, prompt: str) -> str:
        text = digits.inside(prompt, "b(())=")
        if not text or set(text) - set("()"):
            raise ValueError(f"a prompt of this task has one or more brackets ( and ), got {prompt!r}")
        return text

    def needs(self, latent: str, label: States) -> Needs:
        """y_k needs x_k and y_{k-1}; where x_k is absent, z follows the last y, and `e` follows z."""
        n = len(latent)
        return [{"x": index_of(k, 1, n), "y_previous": index_of(k - 1, n + 2, n + 1)} for k in range(n + 2)]


BRACKETS = Task("brackets", BracketStrings(), open_brackets, BracketsFormat())
