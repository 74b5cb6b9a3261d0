"""Presets beyond the paper: scale 100, the comparison with other embeddings, depth, and the ablation of the recipe."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ldhd.experiments.defaults import defaults_of
from ldhd.experiments.preset import SIX, Depths, Grid, Preset, PresetPart, Tasks, View

FAR = PresetPart("copy", ("latent-window",), test_scales=(*range(1, 11), 20, 50, 100), model="small")
RECORD = tuple(
    replace(
        FAR,
        task=task,
        # aligned addition is trained at the width of its largest test scale
        test_scales=tuple(range(1, 9)) if task == "addition-aligned" else FAR.test_scales,
        settings=defaults_of(task, "latent-window")[1],
    )
    for task in ("copy", "addition", "parity", "multiplication", "division", "addition-mod10", "addition-aligned")
)

PEERS = (*SIX, "coupled", "fire", "randomized-rope", "randomized-rpe", "randomized-absolute")
PEERS_MODEL: dict[str, Any] = {
    "model.heads": 8,
    "model.weight_std": 0.08,
    # the stored runs: tables that are added to token embeddings start with 0.02
    "format_version": 2,
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
"""The same settings for all of them, except for those that their authors ask for."""


def _others(own: PresetPart, positions: tuple[str, ...], layers: int = 2) -> PresetPart:
    """Return a part with other embeddings on a task of the record; most need two layers to multiply and divide."""
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
    # clipped distances instead of a window, with every kind of anchor
    ("rpe-square", {"position.hard": "test", "position.projections": "recent"}),
    ("rpe-square", {"position.hard": "test", "position.projections": "key"}),
    ("rpe-square", {"position.projections": "key"}),
    ("rpe-square", {"position.hard": True, "position.projections": "key"}),
    ("rpe-square", {"position.hard": "test", "position.projections": "separate"}),
    # the attention's own projections, whose queries and keys depend on content
    ("rpe-square", {"position.hard": "test", "position.projections": "shared", "model.position_only": False}),
    # as many rows as the longest test string has tokens, so that nothing is clipped
    ("rpe-square", {"position.projections": "key", "position.max_distance": 310}),
)
"""The variants of the recipe, each with one change; all of them are run on copy and addition."""
HARDER = (
    *("model.sharpen", "model.null_lead", "model.mlps", "model.weight_std", "position.unique"),
    *("train.settle", "train.learning_rate", "train.samples"),
)
"""The settings whose changes are also run on multiplication, which takes twice as long."""


def _ablation(own: PresetPart, variants: Sequence[tuple[str, dict[str, Any]]]) -> tuple[PresetPart, ...]:
    """Return a part for each variant of a part of the record, and one in which `absolute` is switched."""
    absolute = "latent-window", {"position.absolute": not own.settings["position.absolute"]}
    others = {key: value for key, value in own.settings.items() if not key.startswith("position.")}
    base = {"latent-window": own.settings, "rpe-square": others}
    return tuple(
        replace(own, positions=(position,), settings={**base[position], **changes})
        for position, changes in (*variants, absolute)
    )


ABLATION = (
    *_ablation(RECORD[0], ABLATED),
    *_ablation(RECORD[1], ABLATED),
    *_ablation(RECORD[3], [row for row in ABLATED if all(key in HARDER for key in row[1])]),
)


def _preset(
    name: str,
    title: str,
    statement: str,
    parts: tuple[PresetPart, ...],
    view: View,
    seeds: int = 3,
    first: int = 0,
    file: str = "",
) -> Preset:
    """Return a preset beyond the paper, which claims nothing that could be checked."""
    sizes = {"quick": (first,), "full": tuple(range(first, first + seeds))}
    return Preset(name, title, statement, parts, view, claims={}, sizes=sizes, file=file)


ONE_RECIPE = tuple(
    replace(part, settings={**part.settings, "position.absolute": "start", "train.steps": 2000}) for part in RECORD[:6]
)
"""One setting for every task, instead of a choice of `absolute` and of the steps for each."""


BEYOND = (
    _preset(
        "record",
        "Trained on scales 1-5, tested up to scale 100, with a latent window",
        "nothing: it goes from 5 to 10 and from 4 to 5",
        RECORD,
        Tasks(),
        seeds=10,
        file="scale-100",  # every run has a record.json of its own
    ),
    _preset(
        "one-recipe",
        "Trained on scales 1-5, tested up to scale 100, with one and the same latent window on every task",
        "nothing: it goes from 5 to 10 and from 4 to 5",
        ONE_RECIPE,
        Tasks(),
        seeds=10,
        first=100,  # seeds on which nothing was ever looked at
    ),
    _preset(
        "peers",
        "How many times farther than trained: the embeddings of others and ours, same tasks, same budget",
        "nothing of most of them",
        LIKE_FOR_LIKE,
        Grid(curves=True),
    ),
    _preset(
        "depth",
        "How many times farther than trained: each embedding with the smallest depth at which it fits",
        "nothing: its models have twelve layers",
        DEPTHS,
        Depths(),
    ),
    _preset(
        "ablation",
        "How many times farther than trained: the recipe, with one thing changed",
        "nothing: the recipe is ours",
        ABLATION,
        Grid(),
    ),
)
