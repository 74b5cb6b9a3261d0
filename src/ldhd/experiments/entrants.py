"""The entrants of the comparison: every embedding, and two models without attention, with the settings to be tried.

Each entrant has `TRIALS` settings. They change the learning rate, the initial weights, dropout, heads, depth, and the
ingredients of the latent window's recipe; options of the embedding itself take turns beside them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ldhd.experiments.defaults import RECIPE

TRIALS = 8
"""Settings tried for each entrant on each task."""

LONGEST = 310
"""Slightly more than the longest test string has tokens."""

Settings = dict[str, Any]

COMMON: Settings = {
    "train.samples": "endless",
    "train.weight_decay": 0.1,
    "train.learning_rate": 2e-3,
    "model.weight_std": 0.08,
    "model.layers": 2,
}
ATTENTION: Settings = {**COMMON, "model.heads": 8}
CHANGES: tuple[Settings, ...] = (
    {},
    {"train.learning_rate": 1e-3},
    {"model.weight_std": 0.02},
    {"model.dropout": 0.1},
    {"model.heads": 2},
    {"model.layers": 1, "model.mlps": 2},
    {"model.heads": 4, "train.learning_rate": 4e-3},
    {"train.settle": 0.4, "model.sharpen": 5.0, "model.null_lead": 1.0, "model.log_length": False},
)
"""What each trial of a Transformer changes; fresh samples and the null key are offered to all of them."""

RECURRENT_CHANGES: tuple[Settings, ...] = (
    {},
    {"train.learning_rate": 1e-3},
    {"model.weight_std": 0.02},
    {"model.dropout": 0.1},
    {"train.learning_rate": 8e-3},
    {"model.layers": 1, "model.mlps": 2},
    {"train.learning_rate": 4e-3},
    {"model.dimension": 128},
)
WINDOW: Settings = {
    **{key: value for key, value in RECIPE.items() if key != "train.steps"},
    "model.layers": 1,
    "position.absolute": "start",
}
WINDOW_CHANGES: tuple[Settings, ...] = (
    {},
    {"train.learning_rate": 2e-3},
    {"model.weight_std": 0.02},
    {"model.dropout": 0.1},
    {"model.heads": 4},
    {"model.layers": 2, "model.mlps": 1},
    {"model.heads": 16},
    {"train.settle": 0.0, "model.sharpen": 1.0, "model.null_lead": 0.0, "model.log_length": True},
)


@dataclass(frozen=True)
class Entrant:
    """One embedding, or a model without attention, and the settings that are tried for it."""

    position: str
    options: tuple[Settings, ...] = ({},)
    """Options of the embedding that take turns from trial to trial."""
    base: Settings = field(default_factory=lambda: ATTENTION)
    changes: tuple[Settings, ...] = CHANGES
    model: str = "small"

    def settings(self, trial: int) -> Settings:
        """Return the settings of a trial, counted from 0."""
        return {**self.base, **self.changes[trial], **self.options[trial % len(self.options)]}


def _drawn(name: str) -> Entrant:
    """Return an entrant with randomized positions, whose ids are drawn in tests, as its authors do, or spaced."""
    lengths = {"position.max_length": LONGEST, "position.test_length": LONGEST}
    return Entrant(name, ({**lengths, "position.test_ids": "drawn"}, {**lengths, "position.test_ids": "spaced"}))


def _offsets(largest: int) -> tuple[Settings, ...]:
    """Return the options of embeddings with offsets up to the largest: one for a batch, or one for a sequence."""
    return tuple({"position.max_offset": largest, "position.offset_for": draws} for draws in ("batch", "sequence"))


FINE_TUNED: Settings = {**ATTENTION, "train.settle": 0.4, "position.factor": 16.0}
"""Position interpolation and YaRN are changes of a trained model, which is then trained a little more."""

ENTRANTS: Mapping[str, Entrant] = {
    "latent-window": Entrant("latent-window", base=WINDOW, changes=WINDOW_CHANGES),
    "rpe-square": Entrant("rpe-square", ({}, {"position.projections": "separate", "position.max_distance": 3})),
    "rpe": Entrant("rpe", ({}, {"position.table_std": 0.08})),
    "rope": Entrant("rope", ({}, {"position.base": 100.0})),
    "ssmax": Entrant("rope", base={**ATTENTION, "model.ssmax": True}, changes=(*CHANGES[:7], {"train.settle": 0.4})),
    "none": Entrant("none"),
    "absolute": Entrant("absolute"),
    "alibi": Entrant("alibi"),
    "t5": Entrant("t5", ({}, {"position.buckets": 8, "position.max_distance": 16})),
    "kerple": Entrant("kerple", ({}, {"position.kernel": "power"})),
    "sandwich": Entrant("sandwich"),
    "fire": Entrant("fire", ({"position.threshold": 4.0}, {"position.threshold": 16.0})),
    "xpos": Entrant("xpos", ({}, {"position.scale_base": 64.0})),
    "pi": Entrant("pi", base=FINE_TUNED),
    "yarn": Entrant("yarn", base=FINE_TUNED),
    "cope": Entrant("cope", ({}, {"position.max_position": 15})),
    "fox": Entrant("fox"),
    "hard-alibi": Entrant("hard-alibi", ({}, {"position.share": 0.5})),
    # offsets that reach scale 100, and offsets that reach scale 20 and are learned sooner
    "abacus": Entrant("abacus", _offsets(100)),
    "abacus, offsets to 20": Entrant("abacus", _offsets(20)),
    "coupled": Entrant("coupled", _offsets(100)),
    "coupled, offsets to 20": Entrant("coupled", _offsets(20)),
    "randomized-rope": _drawn("randomized-rope"),
    "randomized-rpe": _drawn("randomized-rpe"),
    "randomized-absolute": _drawn("randomized-absolute"),
    "lstm": Entrant("none", base=COMMON, changes=RECURRENT_CHANGES, model="lstm"),
    "ssm": Entrant("none", base=COMMON, changes=RECURRENT_CHANGES, model="ssm"),
}
