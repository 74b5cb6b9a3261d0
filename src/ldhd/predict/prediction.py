"""What a prediction says: a verdict for each slot and for the task, with the strings that show why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["generalises", "fails", "undecided"]

ASSUMPTIONS = (
    "A head scores keys by cell: the relation of query and key, and their types (digit, or which delimiter); which "
    "digit it is does not enter. It may ignore position, or a part of it, and choose the delimiters it anchors on.",
    "A head has a null key to rest on when what it looks for is absent; its share tells how many keys were read.",
    "Exchangeable slots may be read together as a sum; the query's own token, and what another head reads alone, are "
    "known and can be subtracted.",
    "With two or more layers the first one marks each token with the delimiters before it, or lets the only token of "
    "a kind read a slot; more layers are taken to do no more.",
    "What is never needed in training, or only with one content, is not learned; what is never seen does no harm.",
)


@dataclass(frozen=True)
class Step:
    """One string that forces a winner above a loser; None is the null key."""

    text: str
    scale: int
    query: int
    winner: int | None
    loser: int | None
    trained: bool
    """Whether it is a training string."""


@dataclass(frozen=True)
class Witness:
    """Why a slot is not served: a need that training does not teach, or needs that contradict each other."""

    kind: Literal["uncovered", "conflict"]
    slot: str
    way: str
    words: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class SlotPrediction:
    """One slot: the way it is served, or the way that carries furthest and where it ends."""

    slot: str
    verdict: Verdict
    linear: Verdict
    explains_training: bool
    max_scale: int
    risk: float
    way: str
    witness: Witness | None


@dataclass(frozen=True)
class Prediction:
    """Whether a model of so many layers, trained on some scales, will be right at others.

    `verdict` is for softmax attention, `linear` for linear attention. `explains_training` is false where the needs
    contradict each other at the training scales already: a model that fits these does so by other means than those
    assumed, of which nothing says that they carry further.
    """

    task: str
    position: str
    layers: int
    train_scales: tuple[int, ...]
    test_scales: tuple[int, ...]
    verdict: Verdict
    linear: Verdict
    explains_training: bool
    max_scale: int
    """The largest of these scales up to which all slots are served; 0 if training is not explained."""
    risk: float
    """The largest share, over the slots, of cells unneeded at test scales that training never showed."""
    slots: tuple[SlotPrediction, ...]
    enumerated: bool
    """Whether the shapes of strings are known, or some were drawn."""

    @property
    def witness(self) -> Witness | None:
        """That of the slot that fails first."""
        failing = [slot for slot in self.slots if slot.witness is not None]
        return min(failing, key=lambda slot: slot.max_scale).witness if failing else None

    def document(self) -> dict[str, Any]:
        """As in the JSON of `ldhd predict`."""
        return {
            "task": self.task,
            "position": self.position,
            "layers": self.layers,
            "train_scales": list(self.train_scales),
            "test_scales": list(self.test_scales),
            "verdict": self.verdict,
            "linear": self.linear,
            "explains_training": self.explains_training,
            "max_scale": self.max_scale,
            "risk": round(self.risk, 4),
            "slots": {
                slot.slot: {
                    "verdict": slot.verdict,
                    "linear": slot.linear,
                    "explains_training": slot.explains_training,
                    "max_scale": slot.max_scale,
                    "risk": round(slot.risk, 4),
                    "way": slot.way,
                }
                for slot in self.slots
            },
            "witness": None if self.witness is None else _witness(self.witness),
            "enumerated": self.enumerated,
        }


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """`fails` if any does, else `undecided` if any is."""
    return next((bad for bad in ("fails", "undecided") if bad in verdicts), "generalises")


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "kind": witness.kind,
        "slot": witness.slot,
        "way": witness.way,
        "words": witness.words,
        "steps": [vars(step) for step in witness.steps],
    }
