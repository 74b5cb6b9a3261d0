"""The result of a prediction: a verdict for each slot and for the task, with the strings that show why."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["generalises", "fails", "does not fit", "does not apply", "undecided"]
Criterion = Literal["generalises", "fails", "undecided"]

ASSUMPTIONS = (
    "A head scores keys by cell: the relation of query and key, and their types (digit, or which delimiter); which "
    "digit it is does not enter. It may ignore position, or a part of it, and choose the delimiters it anchors on.",
    "A head has a null key to rest on when what it looks for is absent; its share tells how many keys were read.",
    "Exchangeable slots may be read together as a sum; the query's own token, and what another head reads alone, are "
    "known and can be subtracted.",
    "With two or more layers the first one marks each token with the delimiters before it, or lets the only token of "
    "a kind read a slot; more layers are taken to do no more.",
    "What is never needed in training, or only with one content, is not learned.",
    "Keys at relations that training never shows are noise; many more keys than in training dilute attention.",
    "A model that no head explains still fits if it can tell the tokens of short strings apart one by one.",
)


@dataclass(frozen=True)
class Constraint:
    """One string in which the key at index `winner` must beat the one at `loser`; None stands for the null key."""

    text: str
    scale: int
    query: int
    winner: int | None
    loser: int | None
    trained: bool
    """Whether it is a training string."""


@dataclass(frozen=True)
class Witness:
    """Why a slot is not served: a need that training does not teach, or constraints that contradict each other."""

    kind: Literal["uncovered", "conflict", "unseen", "crowded"]
    slot: str
    head: str
    words: str
    constraints: tuple[Constraint, ...]

    def document(self) -> dict[str, Any]:
        """Return the witness as in the JSON of `ldhd predict`."""
        steps = [asdict(constraint) for constraint in self.constraints]
        return {"kind": self.kind, "slot": self.slot, "way": self.head, "words": self.words, "steps": steps}


@dataclass(frozen=True)
class Conclusion:
    """What is predicted about a slot or a task.

    `softmax` and `linear` are what the criterion alone says of softmax and of linear attention: coverage and
    consistency. `verdict` also asks whether training fits, and whether noise or dilution mislead a long string.
    `explains_training` is false where the needs contradict each other at the training scales already: a model that fits
    these does so by means that do not extend.
    """

    verdict: Verdict
    softmax: Criterion
    linear: Criterion
    explains_training: bool
    max_scale: int
    """The largest of the scales up to which the slot, or every slot, is served; 0 if training is not explained."""
    risk: float
    """The share of cells unneeded at test scales that never occur in training; of a task, the largest of its slots."""

    def document(self) -> dict[str, Any]:
        """Return the conclusion as in the JSON of `ldhd predict`."""
        names = ("verdict", "softmax", "linear", "explains_training", "max_scale")
        return {name: getattr(self, name) for name in names} | {"risk": round(self.risk, 4)}


@dataclass(frozen=True)
class SlotPrediction(Conclusion):
    """The prediction for one slot: the head that serves it, or the head that serves it up to the largest scale."""

    slot: str
    head: str
    witness: Witness | None

    def document(self) -> dict[str, Any]:
        return {**super().document(), "way": self.head}


@dataclass(frozen=True)
class Prediction(Conclusion):
    """Whether a model of `layers` layers, trained on some scales, will be right at others."""

    task: str
    position: str
    layers: int
    train_scales: tuple[int, ...]
    test_scales: tuple[int, ...]
    slots: tuple[SlotPrediction, ...]
    enumerated: bool
    """Whether the shapes of strings are known, rather than sampled."""
    reason: str
    """The verdict in one sentence."""

    @property
    def witness(self) -> Witness | None:
        """The witness of the slot that fails first."""
        failing = [slot for slot in self.slots if slot.witness is not None]
        return min(failing, key=lambda slot: slot.max_scale).witness if failing else None

    def document(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "position": self.position,
            "layers": self.layers,
            "train_scales": list(self.train_scales),
            "test_scales": list(self.test_scales),
            **super().document(),
            "reason": self.reason,
            "slots": {slot.slot: slot.document() for slot in self.slots},
            "witness": None if self.witness is None else self.witness.document(),
            "enumerated": self.enumerated,
        }
