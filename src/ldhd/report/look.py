"""How embeddings look in figures: each has one color and one marker everywhere, and its variants differ in the dash."""

from collections.abc import Sequence
from zlib import crc32

from ldhd.experiments.groups import Group
from ldhd.positions import POSITIONS
from ldhd.report.figures.marks import DASHES, MARKERS, Style

OTHER_COLORS = ["#7F7F7F", "#9467BD", "#17BECF", "#BCBD22"]
"""Colors of embeddings that are not in `POSITIONS`."""


def look(position: str, variant: int = 0) -> Style:
    """Return how a variant of an embedding is drawn; sums and users' embeddings go by a checksum of their name."""
    place = list(POSITIONS).index(position) if position in POSITIONS else crc32(position.encode())
    color = POSITIONS[position].color if position in POSITIONS else OTHER_COLORS[place % len(OTHER_COLORS)]
    marker, dash = list(MARKERS)[place % len(MARKERS)], list(DASHES)[variant % len(DASHES)]
    return Style(color=color, marker=marker, dash=dash)


def looks(groups: Sequence[Group]) -> list[Style]:
    """Return how each group is drawn; groups of one task and one embedding are its variants."""
    names = [(group.task, group.position) for group in groups]
    return [look(group.position, names[:index].count(names[index])) for index, group in enumerate(groups)]


def group_title(group: Group) -> str:
    """The label of a group, with its embedding as papers write it."""
    named = group.label.startswith(group.position)
    return position_title(group.position) + group.label.removeprefix(group.position) if named else group.label


def position_title(position: str) -> str:
    """Return the name of an embedding or of a sum as papers write it; a name that is not ours stays as it is."""
    return " + ".join(POSITIONS[term].title if term in POSITIONS else term for term in position.split("+"))
