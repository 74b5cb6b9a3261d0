"""How embeddings look in figures: each has one color and one marker everywhere, and its variants differ in the dash."""

from collections.abc import Sequence
from zlib import crc32

from ldhd.experiments.groups import Group
from ldhd.positions import POSITIONS
from ldhd.report.figures.marks import Style

OTHER_COLORS = ["#7F7F7F", "#9467BD", "#17BECF", "#BCBD22"]
"""Colors of embeddings that are not in `POSITIONS`."""

MARKERS = ["circle", "hexagon", "diamond", "triangle-up", "triangle-left", "square", "pentagon", "triangle-down"]
MARKERS += ["star", "triangle-right", "octagon", "diamond-tall", "hexagon2", "cross", "x"]
DASHES = ["solid", "dash", "dashdot", "dot"]


def look(position: str, variant: int = 0) -> Style:
    """Return how an embedding is drawn; its variants are numbered from 0.

    Sums and the embeddings of users take a color and a marker by a checksum of their name.
    """
    place = list(POSITIONS).index(position) if position in POSITIONS else crc32(position.encode())
    other = OTHER_COLORS[place % len(OTHER_COLORS)]
    color = POSITIONS[position].color if position in POSITIONS else other
    return Style(color=color, marker=MARKERS[place % len(MARKERS)], dash=DASHES[variant % len(DASHES)])


def looks(groups: Sequence[Group]) -> list[Style]:
    """Return how each group is drawn; groups of one task and one embedding are its variants."""
    names = [(group.task, group.position) for group in groups]
    return [look(group.position, names[:index].count(names[index])) for index, group in enumerate(groups)]


def group_title(group: Group) -> str:
    """The label of a group, with its embedding as papers write it."""
    if not group.label.startswith(group.position):
        return group.label
    return position_title(group.position) + group.label.removeprefix(group.position)


def position_title(position: str) -> str:
    """Return the name of an embedding or of a sum as papers write it; a name that is not ours stays as it is."""
    return " + ".join(POSITIONS[term].title if term in POSITIONS else term for term in position.split("+"))
