"""How embeddings look in figures: each has one color and one marker everywhere, and its variants differ in the dash."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple
from zlib import crc32

from ldhd.experiments.groups import Group
from ldhd.positions import POSITIONS
from ldhd.report.figures.marks import DASHES, MARKERS, Style


class Architecture(NamedTuple):
    """How a model without attention is named and drawn."""

    title: str
    color: str


ARCHITECTURES = {"lstm": Architecture("LSTM", "#555555"), "ssm": Architecture("State space", "#4D8076")}
"""Models without attention: their names in figures, and their colors."""
OTHER_COLORS = ["#7F7F7F", "#9467BD", "#17BECF", "#BCBD22"]
"""Colors of embeddings that are not in `POSITIONS`."""


def look(position: str, variant: int = 0) -> Style:
    """Return how a variant of an embedding is drawn; sums and users' embeddings go by a checksum of their name."""
    place = list(POSITIONS).index(position) if position in POSITIONS else crc32(position.encode())
    known = POSITIONS.get(position) or ARCHITECTURES.get(position)
    color = known.color if known else OTHER_COLORS[place % len(OTHER_COLORS)]
    marker, dash = list(MARKERS)[place % len(MARKERS)], list(DASHES)[variant % len(DASHES)]
    return Style(color=color, marker=marker, dash=dash)


def looks(groups: Sequence[Group]) -> list[Style]:
    """Return how each group is drawn; groups of one task and one embedding are its variants."""
    variants: dict[tuple[str, str], Iterator[int]] = defaultdict(count)
    return [look(group.position, next(variants[group.task, group.position])) for group in groups]


def group_title(group: Group) -> str:
    """The label of a group, with its embedding as papers write it."""
    return entitled(group.label, group.position)


def entitled(label: str, position: str) -> str:
    """Return a label with the embedding that it begins with as papers write it; other labels stay as they are."""
    named = label.startswith(position)
    return position_title(position) + label.removeprefix(position) if named else label


def position_title(position: str) -> str:
    """Return the name of an embedding or of a sum as papers write it; a name that is not ours stays as it is."""
    if position in ARCHITECTURES:
        return ARCHITECTURES[position].title
    return " + ".join(POSITIONS[term].title if term in POSITIONS else term for term in position.split("+"))
