"""All presets: the experiments of the paper by the numbers of their figures, and those beyond it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ldhd.experiments.beyond import BEYOND
from ldhd.experiments.preset import SIX, Digits, Plane, Preset, PresetPart, Shares, Tasks
from ldhd.names import lookup_only

COPY_PAPER = {"train.steps": 1000, "train.schedule_steps": 10_000}
ADDITION_PAPER = {"train.batch_size": 256, "train.steps": 20_000}
UNSPECIFIED = {"train.steps": 10_000}
STEPS_OF_COPY = (
    "steps and number of samples: those of copy (2000 for each scale; a cosine of 10000 steps, all of them done)",
)


def _training(steps: int, learning_rate: float, weight_decay: float = 0.1) -> dict[str, Any]:
    return {"train.steps": steps, "train.learning_rate": learning_rate, "train.weight_decay": weight_decay}


COPY = PresetPart("copy", SIX, model="base", settings=_training(1000, 2e-3), paper=COPY_PAPER)
ADDITION = replace(COPY, task="addition", settings=_training(1500, 1e-3, weight_decay=0.3), paper=ADDITION_PAPER)
ADDITION = replace(ADDITION, train_scales=(1, 2, 3, 4), test_scales=(1, 2, 3, 4, 5))
LONG_ADDITION = replace(
    ADDITION,
    positions=("rpe-square",),
    settings={**ADDITION.settings, "train.steps": 3000},
    paper={**ADDITION_PAPER, "train.steps": 200_000},
)
PARITY = replace(COPY, task="parity", settings=_training(1000, 1e-3), paper=UNSPECIFIED)
# multiplication and division need the one-digit operand at every step, which a second layer can pass on
MULTIPLICATION = replace(PARITY, task="multiplication", settings={"model.layers": 2, **_training(1600, 2e-3)})
DIVISION = replace(
    PARITY, task="division", settings={"model.layers": 2, "train.samples": "endless", **_training(3000, 2e-3)}
)
MOD10 = replace(
    PARITY, task="addition-mod10", positions=("rpe-absolute", "rpe"), paper={**UNSPECIFIED, "train.learning_rate": 1e-4}
)
PRIMING: tuple[dict[str, Any], ...] = (
    {},
    *({"train.priming_share": share, "train.priming_scale": 5} for share in (0.001, 0.01, 0.1)),
)
"""Shares of priming instances in a training set of scales 1-3."""

SIX_STATEMENT = (
    "RPE-Square is nearly perfect, Abacus above chance but worse, RPE, RoPE, NoPE and ALiBi do not generalise"
)

PAPER = (
    Preset(
        "fig1",
        "In-distribution, out-of-distribution and LDHD generalization of linear classifiers in the plane",
        "training data in a subspace give no clue about the dimensions beyond it",
        view=Plane(),
    ),
    Preset(
        "fig2a",
        "Copy with RPE",
        "RPE fits scales 1-5 and fails at 6-10",
        (PresetPart("copy", ("rpe",), paper=COPY_PAPER),),
    ),
    Preset(
        "fig2b",
        "Copy with RPE-Square",
        "RPE-Square fits scales 1-5 and generalises to 6-10",
        (PresetPart("copy", ("rpe-square",), paper=COPY_PAPER),),
    ),
    Preset(
        "fig2c",
        "Addition with RPE and RPE-Square, exact match",
        "trained on scales 1-4, RPE fails at 5 and RPE-Square succeeds",
        (replace(ADDITION, positions=("rpe", "rpe-square")),),
        assumed=("instances of both GPUs and both accumulated batches count as one batch of 512",),
    ),
    Preset(
        "fig2d",
        "Addition with RPE-Square, digit by digit",
        "trained ten times longer, nearly perfect in every digit",
        (LONG_ADDITION,),
        view=Digits(),
    ),
    Preset(
        "fig3",
        "Addition with six embeddings",
        SIX_STATEMENT,
        # Appendix E compares with the batches of copy
        (replace(ADDITION, paper={"train.steps": 20_000}),),
        assumed=("steps: those of Figure 2(c)",),
    ),
    Preset("fig4", "Copy with six embeddings", SIX_STATEMENT, (COPY,)),
    Preset("fig5", "Parity with chain of thought, six embeddings", SIX_STATEMENT, (PARITY,), assumed=STEPS_OF_COPY),
    Preset("fig6", "Multiplication with six embeddings", SIX_STATEMENT, (MULTIPLICATION,), assumed=STEPS_OF_COPY),
    Preset("fig7", "Division with six embeddings", SIX_STATEMENT, (DIVISION,), assumed=STEPS_OF_COPY),
    Preset(
        "fig8",
        "Addition modulo 10 with RPE-Absolute and RPE",
        "RPE-Absolute generalises, RPE does not",
        (MOD10,),
        assumed=STEPS_OF_COPY,
    ),
    Preset(
        "cot",
        "Parity with and without chain of thought",
        "with the intermediate results in the answer the concept generalises, without them it does not (Section 5.1)",
        tuple(replace(PARITY, task=task, positions=("rpe-square",)) for task in ("parity", "parity-direct")),
        view=Tasks(),
        claims={"parity": "high", "parity-direct": "guess"},
        assumed=(*STEPS_OF_COPY, "the experiment itself: the paper argues and does not train"),
    ),
    Preset(
        "priming",
        "Copy trained on scales 1-3 and a small share of scale 5",
        "a few large instances keep the model from the interpolator that ignores the rest (remark closing Section 3)",
        tuple(
            PresetPart("copy", ("rpe", "rpe-square"), (1, 2, 3), settings=primed, paper={**COPY_PAPER, **primed})
            for primed in PRIMING
        ),
        view=Shares(),
        claims={},
        assumed=("the experiment itself: the paper cites it and does not train",),
    ),
)

PRESETS = {preset.name: preset for preset in (*PAPER, *BEYOND)}


def choose(names: Sequence[str]) -> list[Preset]:
    """Return the presets of these names, each once.

    `all` stands for every preset of the paper, and the number of a figure, such as `fig2`, for all of its panels.
    """
    chosen: dict[str, Preset] = {}
    for name in names:
        panels = {key: preset for key, preset in PRESETS.items() if key[:-1] == name and key[-1].isalpha()}
        paper = {key: preset for key, preset in PRESETS.items() if "paper" in preset.sizes}
        if name != "all" and not panels:
            lookup_only(name, {**PRESETS, "all": None}, "preset")
        chosen |= paper if name == "all" else panels or {name: PRESETS[name]}
    return list(chosen.values())
