"""What the paper reports about each embedding on each task; the criterion was designed with these outcomes known."""

from dataclasses import dataclass
from typing import Literal

LAYERS = 12
"""The number of layers of its GPT-2."""


@dataclass(frozen=True)
class PaperOutcome:
    """One panel of a figure, as the text describes it; the source of the paper has the captions only."""

    task: str
    position: str
    outcome: Literal["generalises", "fails"]
    train_scales: tuple[int, ...]
    test_scales: tuple[int, ...]
    source: str


BOTH = "Both RPE-Square and Abacus achieve non-trivial length generalization performance in the five tasks"
OTHERS = "The other four position embeddings do not achieve good length generalization performance."
MOD10 = "RPE-Absolute achieves length generalization, while RPE only generalizes within the training lengths."
FIGURES = {"addition": 3, "copy": 4, "parity": 5, "multiplication": 6, "division": 7}
ONE_TO_FIVE, ONE_TO_TEN = tuple(range(1, 6)), tuple(range(1, 11))


def _five_tasks(task: str, position: str) -> PaperOutcome:
    good = position in ("rpe-square", "abacus")
    addition = task == "addition"
    return PaperOutcome(
        task,
        position,
        "generalises" if good else "fails",
        tuple(range(1, 5)) if addition else ONE_TO_FIVE,
        ONE_TO_FIVE if addition else ONE_TO_TEN,
        f"Figure {FIGURES[task]}, Appendix E.1: {BOTH if good else OTHERS}",
    )


PAPER_OUTCOMES = (
    *(
        _five_tasks(task, position)
        for task in FIGURES
        for position in ("rpe-square", "abacus", "rpe", "rope", "none", "alibi")
    ),
    PaperOutcome(
        "addition-mod10", "rpe-absolute", "generalises", ONE_TO_FIVE, ONE_TO_TEN, f"Figure 8, Appendix E.2: {MOD10}"
    ),
    PaperOutcome("addition-mod10", "rpe", "fails", ONE_TO_FIVE, ONE_TO_TEN, f"Figure 8, Appendix E.2: {MOD10}"),
)
"""All 32 of them."""
