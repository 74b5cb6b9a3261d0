"""How embeddings are drawn: the same colour in every figure, and a dash and marker for readers who see none."""

from collections.abc import Sequence
from dataclasses import dataclass

from ldhd.report.summary import Cell

# Okabe and Ito's colours, told apart by colour-blind readers too, then others, paler for the randomized forms; an
# embedding keeps its colour in every figure.
COLOURS = {
    "rpe-square": "#0072B2",
    "rpe": "#D55E00",
    "rpe-absolute": "#009E73",
    "abacus": "#CC79A7",
    "rope": "#E69F00",
    "alibi": "#56B4E9",
    "none": "#000000",
    "absolute": "#8C6D31",
    "latent-window": "#332288",
    "coupled": "#882255",
    "fire": "#E34A33",
    "randomized-absolute": "#C7B27C",
    "randomized-rope": "#F2C879",
    "randomized-alibi": "#A6D8F3",
    "randomized-rpe": "#EBA877",
    "randomized-fire": "#F4A79A",
}
OTHERS = ["#7F7F7F", "#9467BD", "#17BECF", "#BCBD22"]
MARKERS = [("o", "circle"), ("s", "square"), ("D", "diamond"), ("^", "triangle-up"), ("v", "triangle-down")]
MARKERS += [("P", "cross"), ("X", "x"), ("*", "star")]
DASHES = [("-", "solid"), ("--", "dash"), ("-.", "dashdot"), (":", "dot")]


@dataclass(frozen=True)
class Look:
    """A colour, and a marker and a dash by matplotlib's name and plotly's."""

    colour: str
    marker: tuple[str, str]
    dash: tuple[str, str]


def colours(positions: Sequence[str]) -> dict[str, str]:
    """A colour for each embedding; those not of ours share what is left, in the order they come."""
    others = [position for position in dict.fromkeys(positions) if position not in COLOURS]
    return COLOURS | {position: OTHERS[k % len(OTHERS)] for k, position in enumerate(others)}


def looks(cells: Sequence[Cell]) -> list[Look]:
    """How each cell is drawn: its embedding's colour and marker, a dash for each variant of it within a task."""
    positions = list(dict.fromkeys(cell.position for cell in cells))
    chosen = colours(positions)
    variants: dict[tuple[str, str], int] = {}
    found = []
    for cell in cells:
        variant = variants.get((cell.task, cell.position), 0)
        variants[cell.task, cell.position] = variant + 1
        marker = MARKERS[positions.index(cell.position) % len(MARKERS)]
        found.append(Look(chosen[cell.position], marker, DASHES[variant % len(DASHES)]))
    return found
