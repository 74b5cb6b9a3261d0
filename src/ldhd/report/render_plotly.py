"""The renderer for the page: figures as plotly's JSON. It knows nothing of runs.

The page itself sets the colours of text and axes, because they follow its light or dark scheme.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from ldhd.report.figures.marks import Axis, Band, Figure, HeatMap, Line, Mark, Panel, Points, Span

PIXELS = 1.4
"""Pixels of a point of line width or marker size."""
SHADE = "rgba(128,128,128,0.16)"

Json = dict[str, Any]


def to_plotly(figure: Figure, height: int, legend: bool = True) -> Json:
    """Render a figure of one panel, or of several below each other that share x.

    Returns:
        `data`, the list of plotly's traces, and `layout`.
    """
    panels = [panel for panel in figure.panels if panel is not None]
    data: list[Json] = []
    layout: Json = {"height": height, "xaxis": _axis(panels[-1].x), "showlegend": legend}
    for index, panel in enumerate(panels):
        number = "" if index == 0 else str(index + 1)
        top = 1 - index / len(panels)
        layout[f"yaxis{number}"] = _axis(panel.y)
        if len(panels) > 1:
            layout[f"yaxis{number}"] |= {"domain": [top - 0.86 / len(panels), top], "nticks": 4}
            layout[f"yaxis{number}"]["title"]["font"] = {"size": 11}
            layout["xaxis"]["anchor"] = f"y{number}"
        data += [_trace(mark, panel) | ({"yaxis": f"y{number}"} if number else {}) for mark in panel.marks]
        if any(isinstance(mark, HeatMap) for mark in panel.marks):
            layout["xaxis"] |= {"showgrid": False}
            layout["yaxis"] |= {"type": "category", "autorange": "reversed", "showgrid": False}
            layout |= {"margin": {"t": 6, "l": 48}}
    return {"data": _named_once(data), "layout": layout}


def _trace(mark: Mark, panel: Panel) -> Json:
    match mark:
        case Line():
            return _line(mark, panel)
        case Band():
            return _band(mark)
        case Points():
            return _points(mark, panel)
        case Span():
            return _span(mark)
        case HeatMap():
            return _heat_map(mark, panel)
    raise TypeError(f"the page has no {type(mark).__name__}")


def _line(line: Line, panel: Panel) -> Json:
    trace = {
        "x": list(line.x),
        "y": _rounded(line.y),
        "mode": "lines+markers" if line.marker else "lines",
        "line": {"color": line.color, "dash": line.dash, "width": round(PIXELS * line.width, 1)},
        "hovertemplate": _hover(panel, line.texts),
        "meta": line.link or ("mean" if line.links else "line"),
        **_name(line),
        **_points_of(line),
    }
    if line.marker:
        trace["marker"] = {"color": line.color, "symbol": line.marker, "size": round(PIXELS * line.size, 1)}
    return trace


def _band(band: Band) -> Json:
    """An area, drawn there along its upper edge and back along its lower one."""
    place = {"x": [*band.x, *reversed(band.x)], "y": _rounded([*band.high, *reversed(band.low)])}
    style = {"fill": "toself", "fillcolor": _transparent(band.color), "line": {"width": 0}, "mode": "lines"}
    return place | style | {"hoverinfo": "skip", "meta": "band", **_name(band)}


def _points(points: Points, panel: Panel) -> Json:
    symbols = ["x" if cross else points.marker for cross in points.crossed] or points.marker
    size = round(PIXELS * points.size, 1)
    return {
        "x": list(points.x),
        "y": _rounded(points.y),
        "mode": "markers",
        "marker": {"color": points.color, "size": size, "opacity": points.opacity, "symbol": symbols},
        "hovertemplate": _hover(panel, points.texts),
        "meta": "seeds",
        **_name(points),
        **_points_of(points),
    }


def _span(span: Span) -> Json:
    place = {"x": [span.low, span.low, span.high, span.high], "y": [-0.04, 1.04, 1.04, -0.04]}
    style = {"fill": "toself", "fillcolor": SHADE, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    return place | style | {"meta": "shade", "name": escape(span.label)}


def _heat_map(heat_map: HeatMap, panel: Panel) -> Json:
    """A heat map; where all is right its cells are grey, on a light page and on a dark one."""
    strongest = heat_map.colors[-1]
    scale = [[0, "rgba(128,128,128,0.1)"], [0.001, _transparent(strongest)], [1, strongest]]
    counts = " of %{customdata}" if heat_map.counts else ""
    return {
        "type": "heatmap",
        "z": [[None if value is None else round(value, 3) for value in row] for row in heat_map.values],
        "y": list(panel.y.tick_labels or []),
        "zmin": heat_map.low,
        "zmax": heat_map.high,
        "colorscale": scale,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": f"{panel.y.label} %{{y}}, {panel.x.label} %{{x}}<br>%{{z:.1%}}{counts} {heat_map.unit}"
        "<extra></extra>",
        "hoverongaps": False,
        "customdata": heat_map.counts or None,
    }


def _axis(axis: Axis) -> Json:
    found: Json = {"title": {"text": escape(axis.label).replace("\n", "<br>")}}
    if axis.scale != "linear":
        found |= {"type": "log"}
    elif axis.range:
        found |= {"range": list(axis.range)}
    if axis.ticks is not None and axis.tick_labels is None:
        found |= {"tickvals": list(axis.ticks), "ticktext": [f"{tick:g}" for tick in axis.ticks]}
    return found | ({"tickformat": ".0%"} if axis.percent else {})


def _hover(panel: Panel, texts: Sequence[str]) -> str:
    """What is said of a point: its own text, if it has one, and where it is."""
    value = "%{y:.1%}" if panel.y.percent else "%{y:.3g}"
    return f"{'%{text}<br>' if texts else ''}{panel.x.label} %{{x}}: {value}"


def _name(mark: Line | Band | Points) -> Json:
    """The name in the legend, if the mark has a label, and the group it is shown and hidden with."""
    label = "" if isinstance(mark, Band) else mark.label
    name = escape((mark.name if isinstance(mark, Line) else "") or label or mark.group)
    return {"name": name, "legendgroup": escape(mark.group) or name, "showlegend": bool(label)}


def _points_of(mark: Line | Points) -> Json:
    texts = {"text": [escape(text) for text in mark.texts]} if mark.texts else {}
    return texts | ({"customdata": list(mark.links)} if mark.links else {})


def _named_once(data: Sequence[Json]) -> list[Json]:
    """The same traces, of which no two have the same entry in the legend."""
    seen: set[str] = set()
    found = []
    for trace in data:
        named = trace.get("showlegend", True) and "name" in trace
        found.append(trace | ({"showlegend": False} if named and trace["name"] in seen else {}))
        seen |= {trace["name"]} if named else set()
    return found


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(float(value), 4) for value in values]


def _transparent(color: str) -> str:
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
