"""What the paper reports about each embedding on each task; the criterion was designed with these outcomes known.

Appendix E.1, Figures 3 to 7: "Both RPE-Square and Abacus achieve non-trivial length generalization performance in the
five tasks", and "The other four position embeddings do not achieve good length generalization performance." Appendix
E.2, Figure 8: "RPE-Absolute achieves length generalization, while RPE only generalizes within the training lengths."
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal


@dataclass(frozen=True)
class PaperOutcome:
    """One panel of a figure, as the text describes it; the source of the paper has the captions only."""

    task: str
    position: str
    outcome: Literal["generalises", "fails"]
    train_scales: tuple[int, ...]
    test_scales: tuple[int, ...]


def _outcome(task: str, position: str) -> PaperOutcome:
    trained, tested = (4, 5) if task == "addition" else (5, 10)
    outcome: Literal["generalises", "fails"] = "generalises" if position in GOOD else "fails"
    return PaperOutcome(task, position, outcome, tuple(range(1, trained + 1)), tuple(range(1, tested + 1)))


GOOD = ("rpe-square", "abacus", "rpe-absolute")
COMPARED = ("rpe-square", "abacus", "rpe", "rope", "none", "alibi")
FIVE_TASKS = ("addition", "copy", "parity", "multiplication", "division")
MODULO_10 = (("addition-mod10", "rpe-absolute"), ("addition-mod10", "rpe"))
PAPER_OUTCOMES = tuple(_outcome(task, position) for task, position in (*product(FIVE_TASKS, COMPARED), *MODULO_10))
"""All 32 of them."""
