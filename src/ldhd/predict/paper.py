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


def _outcome(task: str, position: str, good: bool, source: str) -> PaperOutcome:
    trained, tested = (4, 5) if task == "addition" else (5, 10)
    scales = tuple(range(1, trained + 1)), tuple(range(1, tested + 1))
    return PaperOutcome(task, position, "generalises" if good else "fails", *scales, source)


PAPER_OUTCOMES = (
    *(
        _outcome(task, position, good, f"Figure {figure}, Appendix E.1: {quote}")
        for task, figure in FIGURES.items()
        for good, quote, positions in (
            (True, BOTH, ("rpe-square", "abacus")),
            (False, OTHERS, ("rpe", "rope", "none", "alibi")),
        )
        for position in positions
    ),
    _outcome("addition-mod10", "rpe-absolute", True, f"Figure 8, Appendix E.2: {MOD10}"),
    _outcome("addition-mod10", "rpe", False, f"Figure 8, Appendix E.2: {MOD10}"),
)
"""All 32 of them."""
