"""A task of one's own: the sum of three numbers, from the least significant digit up.

cd examples
ldhd tasks three_addends:THREE --scale 4
ldhd sweep three_addends.toml --out runs      # with the recipe of docs/recipe.md, trained on 1-5, tested up to 100
"""

from functools import reduce

import torch

from ldhd.tasks import Format, LatentSpace, Needs, Task, digits
from ldhd.tasks.digits import Digits

Addends = tuple[Digits, Digits, Digits]


class Triples(LatentSpace):
    """Three numbers; the scale is the number of digits of the longest."""

    def sample(self, scale: int, generator: torch.Generator) -> Addends:
        """One of them, drawn at random, has `scale` digits; the others 1 to `scale`."""
        lengths = (1 + torch.randint(scale, (3,), generator=generator)).tolist()
        lengths[int(torch.randint(3, (), generator=generator))] = scale
        x, y, z = (digits.number(length, generator) for length in lengths)
        return x, y, z

    def scale(self, latent: Addends) -> int:
        return max(map(len, latent))

    def longest(self, scale: int) -> Addends:
        return (9,) * scale, (9,) * scale, (9,) * scale

    def hard(self, scale: int) -> list[Addends]:
        """List carries of 1 and of 2 through all places, with every order of the lengths, and a sum without carries."""
        nines, power = (9,) * scale, (0,) * (scale - 1) + (1,)
        found: list[Addends] = [(nines, nines, nines), (power, power, power)]
        for short in ((1,), (9,)):
            found += [(nines, short, short), (short, nines, short), (short, short, nines)]
        return found


class ThreeAddends(Format):
    """`b x + y + z = s e`, least significant digit first.

    >>> b21+543+9=663e      12 + 345 + 9 = 366
    """

    exchangeable = (("x", "y", "z"), ("x_previous", "y_previous", "z_previous"))

    def prompt(self, latent: Addends) -> str:
        return f"b{'+'.join(map(digits.write, latent))}="

    def answer(self, latent: Addends, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Addends:
        parts = digits.inside(prompt, "b1+2+3=").split("+")
        if len(parts) != 3:
            raise ValueError(f"a prompt of this task looks like 'b1+2+3=', got {prompt!r}")
        x, y, z = (digits.read_number(part, "an addend") for part in parts)
        return x, y, z

    def needs(self, latent: Addends, label: Digits) -> Needs:
        """The digits of a place and of the one before it, whose sum and last digit written tell the carry, 0 to 2."""
        starts = [1]
        for number in latent:
            starts.append(starts[-1] + len(number) + 1)
        return [
            {
                f"{name}{'_previous' * back}": start + t - back if 0 <= t - back < length else None
                for back in (0, 1)
                for name, start, length in zip("xyzs", starts, [*map(len, latent), len(label)], strict=True)
                if back or name != "s"
            }
            for t in range(len(label) + 1)
        ]


def total(latent: Addends) -> Digits:
    return reduce(digits.add, latent)


THREE = Task("three-addends", Triples(), total, ThreeAddends())
