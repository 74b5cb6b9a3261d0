"""python results/plateau.py: what the next token of division costs, in nats, whoever knows this and that of the string.

A model that has found out no more than what is listed cannot have a lower loss on training scales 1 to 5.
"""

import math
from collections import Counter, defaultdict

from ldhd import seeds
from ldhd.experiments.parts import load_task

INSTANCES = 60_000
"""A scale."""

KNOWN = (
    ("operand", "own token", "next digit"),
    ("operand", "own token", "next digit", "first digit"),
    ("operand", "own token", "next digit", "first digit", "third place or later"),
    ("operand", "next digit", "previous digit"),
    ("operand", "own token", "next digit", "previous digit"),
)


def main() -> None:
    task, generator = load_task("division"), seeds.generator(0, "plateau")
    seen = []
    for scale in range(1, 6):
        for _ in range(INSTANCES):
            instance = task.sample(scale, generator)
            operand, digits = instance.prompt[1], instance.prompt[3:-1]
            for place, token in enumerate(instance.answer):
                parts = {
                    "operand": operand,
                    "own token": instance.answer[place - 1] if place else "=",
                    "next digit": digits[place : place + 1],
                    "previous digit": digits[place - 1 : place] if place else "",
                    "first digit": digits[0],
                    "third place or later": place >= 2,
                }
                seen.append((parts, token))
    for names in KNOWN:
        counts: dict[tuple[object, ...], Counter[str]] = defaultdict(Counter)
        for parts, token in seen:
            counts[tuple(parts[name] for name in names)][token] += 1
        lost = sum(n * math.log(found.total() / n) for found in counts.values() for n in found.values())
        print(f"{lost / len(seen):.3f}  {', '.join(names)}")


if __name__ == "__main__":
    main()
