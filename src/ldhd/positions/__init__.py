"""Position embeddings, one file each; they import torch alone and can be lifted into any model."""

from ldhd.positions.abacus import Abacus
from ldhd.positions.absolute import Absolute
from ldhd.positions.alibi import Alibi
from ldhd.positions.cope import CoPE
from ldhd.positions.coupled import Coupled
from ldhd.positions.fire import Fire
from ldhd.positions.fox import Forgetting
from ldhd.positions.hard_alibi import HardAlibi
from ldhd.positions.kerple import Kerple
from ldhd.positions.latent_window import LatentWindow
from ldhd.positions.none import NoPosition
from ldhd.positions.pi import PositionInterpolation
from ldhd.positions.position import Position
from ldhd.positions.randomized import (
    RandomizedAbsolute,
    RandomizedAlibi,
    RandomizedFire,
    RandomizedRotary,
    RandomizedRPE,
)
from ldhd.positions.rope import Rotary
from ldhd.positions.rpe import RPE
from ldhd.positions.rpe_absolute import RPEAbsolute
from ldhd.positions.rpe_square import RPESquare
from ldhd.positions.sandwich import Sandwich
from ldhd.positions.sum import Sum
from ldhd.positions.t5 import T5
from ldhd.positions.xpos import XPos
from ldhd.positions.yarn import Yarn

POSITIONS: dict[str, type[Position]] = {
    kind.name: kind
    for kind in (
        NoPosition,
        Absolute,
        Rotary,
        Alibi,
        RPE,
        RPESquare,
        RPEAbsolute,
        Abacus,
        LatentWindow,
        Coupled,
        Fire,
        T5,
        Kerple,
        Sandwich,
        HardAlibi,
        Forgetting,
        CoPE,
        XPos,
        PositionInterpolation,
        Yarn,
        RandomizedAbsolute,
        RandomizedRotary,
        RandomizedAlibi,
        RandomizedRPE,
        RandomizedFire,
    )
}

__all__ = [
    "POSITIONS",
    "RPE",
    "T5",
    "Abacus",
    "Absolute",
    "Alibi",
    "CoPE",
    "Coupled",
    "Fire",
    "Forgetting",
    "HardAlibi",
    "Kerple",
    "LatentWindow",
    "NoPosition",
    "Position",
    "PositionInterpolation",
    "RPEAbsolute",
    "RPESquare",
    "RandomizedAbsolute",
    "RandomizedAlibi",
    "RandomizedFire",
    "RandomizedRPE",
    "RandomizedRotary",
    "Rotary",
    "Sandwich",
    "Sum",
    "XPos",
    "Yarn",
]
