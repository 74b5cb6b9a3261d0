"""Presets beyond the paper: the record, the embeddings of others, what each ingredient brings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ldhd.experiments.defaults import defaults_of
from ldhd.experiments.preset import SIX, Part, Preset

FAR = Part("copy", ("latent-window",), test_scales=(*range(1, 11), 20, 50, 100), model="small")
RECORD = tuple(
    replace(
        FAR,
        task=task,
        # aligned addition is trained at the width of its largest test scale
        test_scales=tuple(range(1, 9)) if task == "addition-aligned" else FAR.test_scales,
        settings=defaults_of(task, "latent-window").settings,
    )
    for task in ("copy", "addition", "parity", "multiplication", "division", "addition-mod10", "addition-aligned")
)

PEERS = (*SIX, "coupled", "fire", "randomized-rope", "randomized-rpe", "randomized-absolute")
PEERS_MODEL: dict[str, Any] = {
    "model.heads": 8,
    "model.weight_std": 0.08,
    "train.samples": "endless",
    "train.learning_rate": 2e-3,
    "train.weight_decay": 0.1,
    # ids and lengths up to those of scale 100 are met in training
    "position.abacus.max_offset": 100,
    "position.coupled.max_offset": 100,
    # a quarter of the strings, as its authors have it
    "position.fire.threshold": 4,
    **{
        f"position.randomized-{name}.{option}": 310
        for name in ("rope", "rpe", "absolute")
        for option in ("max_length", "test_length")
    },
}
"""The same for all of them, but for what their authors ask for."""


def _others(own: Part, positions: tuple[str, ...], layers: int = 2) -> Part:
    """Other embeddings on a task of the record, trained for as many steps.

    Two layers for all, since multiplication and division need them with most embeddings.
    """
    settings = {**PEERS_MODEL, "model.layers": layers, "train.steps": own.settings["train.steps"]}
    return replace(own, positions=positions, settings=settings)


LIKE_FOR_LIKE = tuple(part for own in RECORD[:6] for part in (own, _others(own, PEERS)))
DEPTHS = tuple(_others(own, SIX, layers) for own in RECORD[:6] for layers in (1, 2))

ABLATED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("latent-window", {}),
    ("latent-window", {"train.settle": 0.0}),
    ("latent-window", {"position.unique": 0.0}),
    ("latent-window", {"model.sharpen": 1.0}),
    ("latent-window", {"model.position_only": False}),
    ("latent-window", {"model.log_length": True}),
    ("latent-window", {"model.null_key": False, "model.null_lead": 0.0}),
    ("latent-window", {"model.null_lead": 0.0}),
    ("latent-window", {"model.mlps": 1}),
    ("latent-window", {"model.mlps": 1, "model.layers": 2}),
    ("latent-window", {"model.heads": 4}),
    ("latent-window", {"model.weight_std": 0.02}),
    ("latent-window", {"train.weight_decay": 0.0}),
    ("latent-window", {"train.weight_decay": 1.0}),
    ("latent-window", {"train.learning_rate": 1e-3}),
    ("latent-window", {"train.samples": 10_000}),
    ("latent-window", {"position.window": 2}),
    # crowds instead of a window, with anchors of every kind
    ("rpe-square", {"position.hard": "test", "position.projections": "recent"}),
    ("rpe-square", {"position.hard": "test", "position.projections": "key"}),
    ("rpe-square", {"position.projections": "key"}),
    ("rpe-square", {"position.hard": True, "position.projections": "key"}),
    ("rpe-square", {"position.hard": "test", "position.projections": "separate"}),
    # the attention's own projections: its queries and keys are no constants then
    ("rpe-square", {"position.hard": "test", "position.projections": "shared", "model.position_only": False}),
    # as many rows as the longest test string has tokens: nothing is clipped
    ("rpe-square", {"position.projections": "key", "position.max_distance": 310}),
)
"""What is left out or changed, one at a time: all of it on copy and addition."""
HARDER = (
    "train.settle",
    "position.unique",
    "model.sharpen",
    "model.null_lead",
    "model.mlps",
    "model.weight_std",
    "train.learning_rate",
    "train.samples",
)
"""Of these the settings whose changes are tried on multiplication too, which takes twice as long."""


def _ablation(own: Part, changed: Sequence[tuple[str, dict[str, Any]]]) -> tuple[Part, ...]:
    absolute = "latent-window", {"position.absolute": not own.settings["position.absolute"]}
    return tuple(
        replace(own, positions=(position,), settings={**own.settings, **changes})
        for position, changes in (*changed, absolute)
    )


ABLATION = (
    *_ablation(RECORD[0], ABLATED),
    *_ablation(RECORD[1], ABLATED),
    *_ablation(RECORD[3], [row for row in ABLATED if all(key in HARDER for key in row[1])]),
)

FEW_SEEDS = {"quick": (0,), "full": (0, 1, 2)}

BEYOND: dict[str, Preset] = {
    "record": Preset(
        "Trained on scales 1-5, tested up to scale 100, with a latent window",
        "nothing: it goes from 5 to 10 and from 4 to 5",
        RECORD,
        view="tasks",
        claims={},
        sizes={"quick": (0,), "full": tuple(range(10))},
    ),
    "peers": Preset(
        "How many times farther than trained: the embeddings of others and ours, same tasks, same budget",
        "nothing of most of them",
        LIKE_FOR_LIKE,
        view="grid",
        curves=True,
        claims={},
        sizes=FEW_SEEDS,
    ),
    "depth": Preset(
        "How many times farther than trained: each embedding with the smallest depth at which it fits",
        "nothing: its models have twelve layers",
        DEPTHS,
        view="depths",
        claims={},
        sizes=FEW_SEEDS,
    ),
    "ablation": Preset(
        "How many times farther than trained: the recipe, with one thing changed",
        "nothing: the recipe is ours",
        ABLATION,
        view="grid",
        claims={},
        sizes=FEW_SEEDS,
    ),
}
