"""The concepts that have names, and the reading of any concept: a name, an expression, or a table of values."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ldhd.bias.expression import evaluate_on_cube
from ldhd.boolean import BooleanFunction
from ldhd.boolean.memory import check_memory
from ldhd.names import lookup_only

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+|parity|majority")
"""What looks like a name rather than an expression."""


@dataclass(frozen=True)
class NamedConcept:
    """A concept with the training set that it is studied on: X_N0, or the points where `where` is positive."""

    expression: str
    meaning: str
    dimension: int = 8
    scale: int = 5
    where: str | None = None


def _abbe(expression: str, where: str, meaning: str) -> NamedConcept:
    """A target of Abbe, Bengio, Lotfi and Rizk, arXiv 2301.13105; their x_0 is our x1, their dimension is 15."""
    return NamedConcept(expression, meaning, dimension=6, scale=6, where=where)


def _diagonals(seed: int) -> NamedConcept:
    """Every diagonal with a coefficient that is uniform on [-1, 1], rounded to two digits."""
    drawn = np.random.default_rng(seed).uniform(-1, 1, 8).round(2)
    expression = " + ".join(f"{value:g}*back({k})" for k, value in enumerate(drawn)).replace("+ -", "- ")
    return NamedConcept(expression, "random coefficients on all diagonals, three of them beyond N0")


CYCLIC = " + ".join(f"x{i + 1}*x{(i + 1) % 6 + 1}*x{(i + 2) % 6 + 1}" for i in range(6))

CONCEPTS: dict[str, NamedConcept] = {
    "abbe-1": _abbe("x1*x2 - 1.25*x2*x3 + 1.5*x3*x1", "x1*x2*x3", "f_1, seen where x1 x2 x3 = 1"),
    "abbe-2": _abbe("x1*x2", "x1 + x2 + 1", "f_2, seen unless x1 = x2 = -1"),
    "abbe-3": _abbe(CYCLIC, "x1 + x2 + x3 + 2", "f_3, cyclic products of three, seen unless x1 = x2 = x3 = -1"),
    "abbe-4": _abbe("sign(x1 + x2 + x3)", "x1 + x2 + 1", "f_4, a majority, seen unless x1 = x2 = -1"),
    "rpe-seen": NamedConcept("4*back(0) + back(1) + back(2)", "diagonals that X_N0 shows: RPE generalises"),
    "rpe-unseen": NamedConcept("4*back(0) + back(1) + 2*back(6)", "one diagonal beyond N0: RPE does not"),
    "place-seen": NamedConcept("place(1) + 2*place(2)", "places that X_N0 shows: RPE-Square's classes generalise"),
    "place-unseen": NamedConcept("place(1) + 2*place(7)", "one place beyond N0: they do not"),
    "ape-seen": NamedConcept("(2*back(0) + back(1)) * max(0, min(1, 6 - n))", "zero beyond N0: APE generalises"),
    "sparse-seen": NamedConcept("x1*x2 + x3", "variables up to N0: the Fourier interpolator is the concept"),
    "sparse-unseen": NamedConcept("x1*x2 + 3*x7", "one variable beyond N0"),
    "parity": NamedConcept("x1*x2*x3*x4*x5*x6*x7*x8", "the product of all variables"),
    "majority": NamedConcept("sign(x1 + x2 + x3 + x4 + x5 + x6 + x7)", "the sign of the sum of seven variables"),
    **{f"diagonals-{seed}": _diagonals(seed) for seed in range(8)},
    "example-3": NamedConcept("4*x1 + 3*x2", "Example 3 of the paper", dimension=2, scale=1),
}

DIAGONALS = tuple(name for name in CONCEPTS if name.startswith("diagonals-"))
STUDIED = tuple(name for name in CONCEPTS if name != "example-3" and name not in DIAGONALS)
GROUPS = {"all": STUDIED, "diagonals": DIAGONALS}
"""The concepts of the study, and random ones in the span of RPE; `example-3`, with two variables, is in neither."""


def read_concept(text: str, dimension: int | None) -> tuple[BooleanFunction, NamedConcept | None]:
    """Return the concept that a name, an expression, a list of 2^N numbers or a file with such a list stands for.

    Without a dimension it is that of the named concept, of the table, or the largest variable of the expression.
    """
    named = CONCEPTS.get(text)
    table = None if named else _table(text)
    if table is not None:
        if dimension is not None and len(table) != 2**dimension:
            raise ValueError(f"a table for N = {dimension} has {2**dimension} values, got {len(table)}")
        return BooleanFunction(table), None
    if named is None and (NAME.fullmatch(text) or text in GROUPS):
        lookup_only(text, CONCEPTS, "concept", ", or write an expression such as x1*x2 + 3*x5, or a table of values")
    expression = named.expression if named else text
    if dimension is None:
        dimension = named.dimension if named else largest_variable(text)
    check_memory((dimension + 8) * 2**dimension, f"an expression in {dimension} variables")
    return BooleanFunction(evaluate_on_cube(expression, dimension)), named


def largest_variable(text: str) -> int:
    """Return the largest k with xk in an expression; ValueError if there is no variable to tell N from."""
    found = [int(number) for number in re.findall(r"\bx(\d+)\b", text)]
    if not found:
        raise ValueError(f"{text!r} names no variable x1, x2, .. that would tell N; give --dimension")
    return max(found)


def _table(text: str) -> list[float] | None:
    """Return the numbers of a table, given as a text or as the path of a file; None if it is neither."""
    path = Path(text)
    source = "the table"
    if len(text) < 256 and path.is_file():
        text, source = path.read_text(errors="replace"), str(path)
    elif "," not in text or "(" in text:
        return None
    values = []
    for word in re.split(r"[\s,]+", text.strip().strip("[]").strip()):
        try:
            values.append(float(word))
        except ValueError:
            raise ValueError(f"{source} holds {word!r}, which is no number; a table has 2^N numbers") from None
    if len(values) & (len(values) - 1):
        raise ValueError(f"{source} has {len(values)} values; a table has 2^N of them, in the order of docs/theory.md")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{source} holds a value that is not finite")
    return values
