"""The paper's experiments by the numbers of their figures, each in three sizes, and ours beyond them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ldhd.experiments.config import RunConfig, make_configs
from ldhd.experiments.parts import position_settings
from ldhd.names import lookup_only

SIZES: dict[str, tuple[int, ...]] = {"quick": (0,), "full": (0, 1, 2, 3, 4), "paper": (0,)}
"""The seeds of each size. `quick` and `full` train a small model that suits a laptop, `paper` trains GPT-2."""

SIX = ("rpe-square", "rpe", "rope", "none", "alibi", "abacus")
"""The embeddings of Figures 3 to 7."""

Claim = Literal["high", "low", "guess", "between", "untold"]
"""What the paper says of accuracy at the largest scale: nearly perfect, not good, hardly better than a guess
between two answers, above chance but not above RPE-Square."""

CLAIMS: dict[str, Claim] = {
    "rpe-square": "high",
    "rpe-absolute": "high",
    "rpe": "low",
    "rope": "low",
    "none": "low",
    "alibi": "low",
    "abacus": "between",
}

GPT2: dict[str, Any] = {
    "train.learning_rate": 5e-4,
    "train.weight_decay": 1.0,
    "train.batch_size": 512,
    "train.accumulation": 2,
    "position.rpe-square.projections": "separate",
    "position.rpe-square.anchor_scale": 1.0,
    "position.rpe-square.max_distance": 256,
    "position.rpe-absolute.projections": "separate",
    "position.rpe-absolute.anchor_scale": 1.0,
    "position.rpe-absolute.max_distance": 256,
}
"""The paper's hyperparameters: 256 instances on each of two GPUs, gradients of two such batches added up."""

SMALL: dict[str, Any] = {"position.abacus.max_offset": 20}
"""Of the sizes `quick` and `full`: enough for the ids of all test scales; more of them want longer training."""

ASSUMED = (
    "the anchors have projections of their own, and R is learned for each head and not clipped",
    "GPT-2's own position embedding is left out, its dropout of 0.1 kept",
)
"""What the paper does not say and every preset of size `paper` assumes."""


@dataclass(frozen=True)
class Part:
    """Runs that differ in embedding and seed alone."""

    task: str
    positions: tuple[str, ...]
    train_scales: tuple[int, ...] = (1, 2, 3, 4, 5)
    test_scales: tuple[int, ...] = tuple(range(1, 11))
    model: str | None = None
    """The task's own by default."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the sizes `quick` and `full`."""
    paper: Mapping[str, Any] = field(default_factory=dict)
    """Where size `paper` departs from `GPT2`."""
    common: Mapping[str, Any] = field(default_factory=dict)
    """Of every size."""

    def configs(
        self, seeds: Sequence[int], size: str, steps: int | None = None, device: str = "cpu"
    ) -> list[RunConfig]:
        """A run for each embedding and seed, stopped after `steps` if that comes first."""
        own = {**GPT2, **self.paper} if size == "paper" else {**SMALL, **self.settings}
        settings = {**own, **self.common}
        if steps is not None:
            settings["train.steps"] = min(steps, settings.get("train.steps", steps))
            settings["train.schedule_steps"] = settings.get("train.schedule_steps", settings["train.steps"])
        options = set().union(*position_settings(self.positions, ()).values())
        return make_configs(
            self.task,
            self.positions,
            model="gpt2" if size == "paper" else self.model,
            train_scales=self.train_scales,
            test_scales=self.test_scales,
            seeds=seeds,
            settings={k: v for k, v in settings.items() if not k.startswith("position.") or k in options},
            device=device,
            built=False,
        )


@dataclass(frozen=True)
class Preset:
    """A figure of the paper, one of its arguments, or a result of ours: what to run and draw, and what is claimed."""

    title: str
    says: str
    """The paper's claim, in words."""
    parts: tuple[Part, ...] = ()
    view: Literal["plane", "curves", "panels", "digits", "tasks", "shares", "grid"] = "curves"
    claims: Mapping[str, Claim] = field(default_factory=lambda: CLAIMS)
    """By embedding, or by task where the view is `tasks`."""
    assumed: tuple[str, ...] = ()
    """Settings of size `paper` that the paper does not give."""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: SIZES)
    """The seeds of the sizes it has; those of the paper have all."""

    @property
    def of_paper(self) -> bool:
        return "paper" in self.sizes

    def assumptions(self, size: str) -> list[str]:
        """What a size assumes that the paper does not say."""
        return [*ASSUMED, *self.assumed] if size == "paper" else []

    def configs(
        self, size: str = "quick", seeds: Sequence[int] | None = None, steps: int | None = None, device: str = "cpu"
    ) -> list[RunConfig]:
        """All its runs, with other seeds than those of the size or fewer steps if wanted."""
        own = lookup_only(size, self.sizes, "size")
        wanted = own if seeds is None else seeds
        return [config for part in self.parts for config in part.configs(wanted, size, steps, device)]


COPY_PAPER = {"train.steps": 1000, "train.schedule_steps": 10_000}
ADDITION_PAPER = {"train.batch_size": 256, "train.steps": 20_000}
UNTOLD_STEPS = (
    "steps and number of samples: those of copy (2000 for each scale; a cosine of 10000 steps, all of them done)"
)
UNTOLD = {"train.steps": 10_000}

ADDITION = Part(
    "addition",
    SIX,
    train_scales=(1, 2, 3, 4),
    test_scales=(1, 2, 3, 4, 5),
    model="base",
    settings={"train.steps": 1500, "train.learning_rate": 1e-3, "train.weight_decay": 0.3},
    paper=ADDITION_PAPER,
)
COPY = Part(
    "copy",
    SIX,
    model="base",
    settings={"train.steps": 1000, "train.learning_rate": 2e-3, "train.weight_decay": 0.1},
    paper=COPY_PAPER,
)
PARITY = Part(
    "parity",
    SIX,
    model="base",
    settings={"train.steps": 1000, "train.learning_rate": 1e-3, "train.weight_decay": 0.1},
    paper=UNTOLD,
)
PRODUCT = {"model.layers": 2, "train.learning_rate": 2e-3, "train.weight_decay": 0.1}
"""Multiplication and division need the one-digit operand at every step, which a second layer can hand on."""
MULTIPLICATION = Part("multiplication", SIX, model="base", settings={**PRODUCT, "train.steps": 1600}, paper=UNTOLD)
DIVISION = Part(
    "division",
    SIX,
    model="base",
    settings={**PRODUCT, "train.steps": 3000, "train.samples": "endless"},
    paper=UNTOLD,
)
MOD10 = Part(
    "addition-mod10",
    ("rpe-absolute", "rpe"),
    model="base",
    settings={"train.steps": 1000, "train.learning_rate": 1e-3, "train.weight_decay": 0.1},
    paper={**UNTOLD, "train.learning_rate": 1e-4},
)
SHARES = (0.0, 0.001, 0.01, 0.1)
"""Of instances of scale 5 in a training set of scales 1-3."""

RECIPE: dict[str, Any] = {
    "model.heads": 8,
    "model.mlps": 2,
    "model.weight_std": 0.08,
    "model.position_only": True,
    "model.log_length": False,
    "model.sharpen": 5.0,
    "model.null_lead": 1.0,
    "position.absolute": True,
    "train.steps": 1000,
    "train.settle": 0.4,
    "train.samples": "endless",
    "train.learning_rate": 4e-3,
    "train.weight_decay": 0.1,
}
"""What makes a latent window generalise on every task; see docs/recipe.md."""

FAR = Part("copy", ("latent-window",), test_scales=(*range(1, 11), 20, 50, 100), model="small", settings=RECIPE)
TWICE = {**RECIPE, "train.steps": 2000}
"""Carries and remainders that depend on three digits take longer."""
RECORD = (
    FAR,
    # no digit of a sum needs a place as such, and two heads must find all three delimiters: the more try the better
    replace(FAR, task="addition", settings={**RECIPE, "position.absolute": False}),
    replace(FAR, task="parity"),
    replace(FAR, task="multiplication", settings=TWICE),
    # a second absolute head would read the first digit of the long operand, which is the previous one up to scale 2
    replace(FAR, task="division", settings={**TWICE, "position.absolute": 1}),
    replace(FAR, task="addition-mod10"),
    # aligned addition is trained at the width of its largest test scale
    replace(FAR, task="addition-aligned", test_scales=tuple(range(1, 9))),
)

PEERS = (*SIX, "coupled", "fire", "randomized-rope", "randomized-rpe", "randomized-absolute")
PEERS_MODEL: dict[str, Any] = {
    "model.heads": 8,
    "model.layers": 2,
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
"""Two layers for all, since multiplication and division need them with most embeddings."""
LIKE_FOR_LIKE = tuple(
    part
    for own in RECORD[:6]
    for part in (
        own,
        replace(own, positions=PEERS, settings={**PEERS_MODEL, "train.steps": own.settings["train.steps"]}),
    )
)

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
    # crowds instead of a window, with anchors of every kind
    ("rpe-square", {"position.hard": "test", "position.projections": "recent"}),
    ("rpe-square", {"position.hard": "test", "position.projections": "key"}),
    ("rpe-square", {"position.projections": "key"}),
    ("rpe-square", {"position.hard": "test", "position.projections": "separate"}),
)
"""What is left out or changed, one at a time."""
ABLATION = tuple(
    replace(own, positions=(position,), settings={**own.settings, **changes})
    for own in RECORD[:2]
    for position, changes in (
        *ABLATED,
        ("latent-window", {"position.absolute": not own.settings["position.absolute"]}),
    )
)

SIX_SAY = "RPE-Square is nearly perfect, Abacus above chance but worse, RPE, RoPE, NoPE and ALiBi do not generalise"

PRESETS: dict[str, Preset] = {
    "fig1": Preset(
        "In-distribution, out-of-distribution and LDHD generalization of linear classifiers in the plane",
        "training data in a subspace give no clue about the dimensions beyond it",
        view="plane",
    ),
    "fig2a": Preset(
        "Copy with RPE",
        "RPE fits scales 1-5 and fails at 6-10",
        (Part("copy", ("rpe",), paper=COPY_PAPER),),
    ),
    "fig2b": Preset(
        "Copy with RPE-Square",
        "RPE-Square fits scales 1-5 and generalises to 6-10",
        (Part("copy", ("rpe-square",), paper=COPY_PAPER),),
    ),
    "fig2c": Preset(
        "Addition with RPE and RPE-Square, exact match",
        "trained on scales 1-4, RPE fails at 5 and RPE-Square succeeds",
        (replace(ADDITION, positions=("rpe", "rpe-square")),),
        assumed=("instances of both GPUs and both accumulated batches count as one batch of 512",),
    ),
    "fig2d": Preset(
        "Addition with RPE-Square, digit by digit",
        "trained ten times longer, nearly perfect in every digit",
        (
            replace(
                ADDITION,
                positions=("rpe-square",),
                settings={**ADDITION.settings, "train.steps": 3000},
                paper={**ADDITION_PAPER, "train.steps": 200_000},
            ),
        ),
        view="digits",
    ),
    "fig3": Preset("Addition with six embeddings", SIX_SAY, (ADDITION,), view="panels"),
    "fig4": Preset("Copy with six embeddings", SIX_SAY, (COPY,), view="panels"),
    "fig5": Preset(
        "Parity with chain of thought, six embeddings", SIX_SAY, (PARITY,), "panels", assumed=(UNTOLD_STEPS,)
    ),
    "fig6": Preset("Multiplication with six embeddings", SIX_SAY, (MULTIPLICATION,), "panels", assumed=(UNTOLD_STEPS,)),
    "fig7": Preset("Division with six embeddings", SIX_SAY, (DIVISION,), "panels", assumed=(UNTOLD_STEPS,)),
    "fig8": Preset(
        "Addition modulo 10 with RPE-Absolute and RPE",
        "RPE-Absolute generalises, RPE does not",
        (MOD10,),
        "panels",
        assumed=(UNTOLD_STEPS,),
    ),
    "cot": Preset(
        "Parity with and without chain of thought",
        "with the intermediate results in the answer the concept generalises, without them it does not (Section 5.1)",
        (
            replace(PARITY, positions=("rpe-square",)),
            replace(PARITY, task="parity-direct", positions=("rpe-square",)),
        ),
        view="tasks",
        claims={"parity": "high", "parity-direct": "guess"},
        assumed=(UNTOLD_STEPS, "the experiment itself: the paper argues and does not train"),
    ),
    "priming": Preset(
        "Copy trained on scales 1-3 and a small share of scale 5",
        "a few large instances keep the model from the interpolator that ignores the rest (remark closing Section 3)",
        tuple(
            Part(
                "copy",
                ("rpe", "rpe-square"),
                train_scales=(1, 2, 3),
                paper=COPY_PAPER,
                common={"train.priming_share": share, "train.priming_scale": 5} if share else {},
            )
            for share in SHARES
        ),
        view="shares",
        assumed=("the experiment itself: the paper cites it and does not train",),
    ),
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
        claims={},
        sizes={"quick": (0,), "full": (0, 1, 2)},
    ),
    "ablation": Preset(
        "How many times farther than trained: the recipe, with one thing changed",
        "nothing: the recipe is ours",
        ABLATION,
        view="grid",
        claims={},
        sizes={"quick": (0,), "full": (0, 1, 2)},
    ),
}


def chosen(names: Sequence[str]) -> list[str]:
    """The presets asked for, each once; `all` stands for every one of the paper."""
    for name in names:
        lookup_only(name, {**PRESETS, "all": None}, "preset")
    paper = [name for name, preset in PRESETS.items() if preset.of_paper]
    return list(dict.fromkeys(found for name in names for found in (paper if name == "all" else [name])))
