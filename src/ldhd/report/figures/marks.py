"""The vocabulary of figures: a `Figure` has panels, and a `Panel` has two axes and marks.

The dataclasses say what is drawn and in which colour, not how: `render_matplotlib` draws them for print and
`render_plotly` for the page. Colours are written `#rrggbb`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MARKERS = {"circle": "o", "hexagon": "h", "diamond": "D", "triangle-up": "^", "triangle-left": "<", "square": "s"}
MARKERS |= {"pentagon": "p", "triangle-down": "v", "star": "*", "triangle-right": ">", "octagon": "8"}
MARKERS |= {"diamond-tall": "d", "hexagon2": "H", "cross": "P", "x": "X"}
DASHES: dict[str, str | tuple[int, tuple[int, ...]]] = {"solid": "-", "dash": "--", "dashdot": "-.", "dot": ":"}
DASHES |= {"longdash": (0, (9, 3)), "longdashdot": (0, (9, 2, 2, 2))}
"""Markers and dashes by the names that plotly has for them, and what matplotlib calls them."""

Numbers = Sequence[float]


@dataclass(frozen=True)
class Axis:
    """One axis of a panel; without ticks, the renderer chooses them. With `percent`, shares are written as per cent.

    The scale `symlog` is linear up to 10 and logarithmic above; the page draws it as `log`.
    """

    label: str = ""
    range: tuple[float, float] | None = None
    ticks: Numbers | None = None
    tick_labels: Sequence[str] | None = None
    scale: Literal["linear", "log", "symlog"] = "linear"
    percent: bool = False


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a line is drawn: with an empty dash as points alone, with an empty marker without; `size` is theirs."""

    color: str
    dash: str = "solid"
    marker: str = ""
    width: float = 2.0
    size: float = 6.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Line:
    """A line through points, or the points alone; lines without a label have no entry in the legend.

    On the page, marks of one `group` are shown and hidden together. Under the pointer, it shows the name of the line,
    by default its label, and the text of the point. A click leads to the element `link`, or to the one in `links`.
    The page may show and hide together what plays the same `role`, such as `hard`.
    """

    x: Numbers
    y: Numbers
    style: Style
    label: str = ""
    name: str = ""
    group: str = ""
    texts: Sequence[str] = ()
    links: Sequence[str] = ()
    link: str = ""
    role: str = ""


@dataclass(frozen=True)
class Band:
    """The area between two lines, such as an interval around a mean."""

    x: Numbers
    low: Numbers
    high: Numbers
    color: str
    group: str = ""


@dataclass(frozen=True)
class Bars:
    """Vertical bars from 0."""

    x: Numbers
    y: Numbers
    color: str
    label: str = ""
    width: float = 0.8
    hatched: bool = False


@dataclass(frozen=True)
class Span:
    """A shaded range of x over the whole height, such as the training scales."""

    low: float
    high: float
    label: str = ""


@dataclass(frozen=True)
class HeatMap:
    """Cells in rows, the first row on top; None leaves a cell blank.

    Colours go from the value `low` to `high`, with `log` by the logarithm. The page writes the unit after a value and,
    from `counts`, of how many it is a share.
    """

    values: Sequence[Sequence[float | None]]
    colors: Sequence[str]
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    unit: str = ""
    counts: Sequence[Sequence[int]] = ()


@dataclass(frozen=True)
class Text:
    """A text at a point."""

    x: float
    y: float
    text: str
    size: float = 9.0
    color: str = "#000000"
    align: Literal["center", "right"] = "center"


Mark = Line | Band | Bars | Span | HeatMap | Text


@dataclass(frozen=True)
class Panel:
    """A pair of axes with what is drawn on it; bare panels show the marks without the axes."""

    marks: Sequence[Mark]
    x: Axis = Axis()
    y: Axis = Axis()
    title: str = ""
    bare: bool = False


@dataclass(frozen=True)
class Figure:
    """Panels in rows of `columns`; None leaves a place empty. `size` is its width and height in inches.

    `share` names the axis that all panels have in common. A color bar explains the colours of the first heat map.
    """

    panels: Sequence[Panel | None]
    size: tuple[float, float]
    columns: int = 1
    title: str = ""
    share: Literal["", "x", "y"] = ""
    legend: bool = True
    color_bar: bool = False
