"""Position embeddings, one file each; they import torch alone and can be lifted into any model."""

from ldhd.positions.abacus import Abacus
from ldhd.positions.absolute import Absolute
from ldhd.positions.alibi import Alibi
from ldhd.positions.latent_window import LatentWindow
from ldhd.positions.none import NoPosition
from ldhd.positions.position import Position
from ldhd.positions.rope import Rotary
from ldhd.positions.rpe import RPE
from ldhd.positions.rpe_absolute import RPEAbsolute
from ldhd.positions.rpe_square import RPESquare
from ldhd.positions.sum import Sum

POSITIONS: dict[str, type[Position]] = {
    "none": NoPosition,
    "absolute": Absolute,
    "rope": Rotary,
    "alibi": Alibi,
    "rpe": RPE,
    "rpe-square": RPESquare,
    "rpe-absolute": RPEAbsolute,
    "abacus": Abacus,
    "latent-window": LatentWindow,
}

__all__ = [
    "POSITIONS",
    "RPE",
    "Abacus",
    "Absolute",
    "Alibi",
    "LatentWindow",
    "NoPosition",
    "Position",
    "RPEAbsolute",
    "RPESquare",
    "Rotary",
    "Sum",
]
