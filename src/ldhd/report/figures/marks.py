"""The vocabulary of figures: a `Figure` has panels, and a `Panel` has two axes and marks.

The dataclasses say what is drawn and in which colour, not how: `render_matplotlib` draws them for print and
`render_plotly` for the page. Markers and dashes have plotly's names. Colours are written `#rrggbb`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Numbers = Sequence[float]


@dataclass(frozen=True)
class Axis:
    """One axis of a panel; without ticks, the renderer chooses them."""

    label: str = ""
    range: tuple[float, float] | None = None
    ticks: Numbers | None = None
    tick_labels: Sequence[str] | None = None
    scale: Literal["linear", "log", "symlog"] = "linear"
    """`symlog` is linear up to 10 and logarithmic above; the page draws it as `log`."""
    percent: bool = False
    """Whether shares between 0 and 1 are written as per cent."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a line is drawn: with an empty dash as points alone, with an empty marker without points."""

    color: str
    dash: str = "solid"
    marker: str = ""
    width: float = 2.0
    size: float = 6.0
    """Diameter of its markers."""
    opacity: float = 1.0


@dataclass(frozen=True)
class Line:
    """A line through points, or the points alone."""

    x: Numbers
    y: Numbers
    style: Style
    label: str = ""
    """Its entry in the legend; lines without a label have none."""
    name: str = ""
    """What the page calls it under the pointer; by default its label."""
    group: str = ""
    """On the page, marks of one group are shown and hidden together."""
    texts: Sequence[str] = ()
    """For each point, what the page says when the pointer is over it."""
    links: Sequence[str] = ()
    """For each point, the element of the page that a click leads to."""
    link: str = ""
    """The same for the line as a whole."""


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
    """Cells in rows, the first row on top; None leaves a cell blank."""

    values: Sequence[Sequence[float | None]]
    colors: Sequence[str]
    """Colours from the smallest value to the largest."""
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    """Whether colours follow the logarithm of the values."""
    unit: str = ""
    """What the page writes after a value."""
    counts: Sequence[Sequence[int]] = ()
    """For each cell, of how many the value is a share."""


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
    """Panels in rows of `columns`; None leaves a place empty. `size` is its width and height in inches."""

    panels: Sequence[Panel | None]
    size: tuple[float, float]
    columns: int = 1
    title: str = ""
    share: Literal["", "x", "y"] = ""
    """The axis that all panels have in common."""
    legend: bool = True
    color_bar: bool = False
    """Whether the colours of the first heat map are explained beside the panels."""
