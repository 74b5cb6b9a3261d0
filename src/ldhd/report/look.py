"""How embeddings look in figures: each has one color and one marker everywhere, and its variants differ in the dash."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from ldhd.experiments.groups import Group
from ldhd.positions import POSITIONS

OTHER_COLOURS = ["#7F7F7F", "#9467BD", "#17BECF", "#BCBD22"]
"""Colors of embeddings that are not in `POSITIONS`."""

MARKERS = [("o", "circle"), ("s", "square"), ("D", "diamond"), ("^", "triangle-up"), ("v", "triangle-down")]
MARKERS += [("P", "cross"), ("X", "x"), ("*", "star"), ("<", "triangle-left"), (">", "triangle-right")]
MARKERS += [("p", "pentagon"), ("h", "hexagon"), ("8", "octagon"), ("d", "diamond-tall"), ("H", "hexagon2")]
DASHES = [("-", "solid"), ("--", "dash"), ("-.", "dashdot"), (":", "dot")]


@dataclass(frozen=True)
class Look:
    """A color, and a marker and a dash, each by its name in matplotlib and in plotly."""

    colour: str
    marker: tuple[str, str]
    dash: tuple[str, str]


def look(position: str, variant: int = 0) -> Look:
    """How an embedding is drawn; its variants are numbered from 0.

    Sums and the embeddings of users take a color and a marker by a checksum of their name.
    """
    place = list(POSITIONS).index(position) if position in POSITIONS else crc32(position.encode())
    other = OTHER_COLOURS[place % len(OTHER_COLOURS)]
    colour = POSITIONS[position].color if position in POSITIONS else other
    return Look(colour, MARKERS[place % len(MARKERS)], DASHES[variant % len(DASHES)])


def looks(groups: Sequence[Group]) -> list[Look]:
    """How each group is drawn; groups of one task and one embedding are its variants."""
    variants: dict[tuple[str, str], int] = {}
    found = []
    for group in groups:
        variant = variants.get((group.task, group.position), 0)
        variants[group.task, group.position] = variant + 1
        found.append(look(group.position, variant))
    return found


def position_title(position: str) -> str:
    """The name of an embedding or of a sum as papers write it; a name that is not ours stays as it is."""
    return " + ".join(POSITIONS[term].title if term in POSITIONS else term for term in position.split("+"))
