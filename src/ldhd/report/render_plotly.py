"""The renderer for the page: figures as plotly's JSON. It knows nothing of runs.

The page itself sets the colours of text and axes, because they follow its light or dark scheme.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from ldhd.report.figures.marks import Axis, Band, Figure, HeatMap, Line, Mark, Panel, Span

PIXELS = 1.4
"""Pixels of a point of line width or marker size."""
AREA = {"fill": "toself", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}

Json = dict[str, Any]


def to_plotly(figure: Figure, height: int, legend: bool = True) -> Json:
    """Return the `data` and the `layout` of a figure of one panel, or of several below each other that share x."""
    panels = [panel for panel in figure.panels if panel is not None]
    data: list[Json] = []
    layout: Json = {"height": height, "xaxis": _axis(panels[-1].x), "showlegend": legend}
    for index, panel in enumerate(panels):
        number = "" if index == 0 else str(index + 1)
        axis = layout[f"yaxis{number}"] = _axis(panel.y)
        if len(panels) > 1:
            top = 1 - index / len(panels)
            axis |= {"domain": [top - 0.86 / len(panels), top], "nticks": 4}
            axis["title"]["font"] = {"size": 11}
            layout["xaxis"]["anchor"] = f"y{number}"
        data += [_trace(mark, panel) | ({"yaxis": f"y{number}"} if number else {}) for mark in panel.marks]
        if any(isinstance(mark, HeatMap) for mark in panel.marks):
            axis |= {"type": "category", "autorange": "reversed", "showgrid": False, "tickvals": None, "ticktext": None}
            layout["xaxis"] |= {"showgrid": False}
            layout["margin"] = {"t": 6, "l": 48}
    return {"data": _named_once(data), "layout": layout}


def _trace(mark: Mark, panel: Panel) -> Json:
    match mark:
        case Line():
            return _line(mark, panel)
        case Band():  # along its upper edge and back along its lower one
            place = {"x": [*mark.x, *reversed(mark.x)], "y": _rounded([*mark.high, *reversed(mark.low)])}
            group = {"name": escape(mark.group), "legendgroup": escape(mark.group), "showlegend": False}
            return place | AREA | group | {"fillcolor": _transparent(mark.color), "meta": "band"}
        case Span():
            place = {"x": [mark.low, mark.low, mark.high, mark.high], "y": [-0.04, 1.04, 1.04, -0.04]}
            return place | AREA | {"fillcolor": "rgba(128,128,128,0.16)", "meta": "shade", "name": escape(mark.label)}
        case HeatMap():
            return _heat_map(mark, panel)
    raise TypeError(f"the page has no {type(mark).__name__}")


def _line(line: Line, panel: Panel) -> Json:
    style, name = line.style, escape(line.name or line.label or line.group)
    value = "%{y:.1%}" if panel.y.percent else "%{y:.3g}"
    trace = {
        "x": list(line.x),
        "y": _rounded(line.y),
        "mode": "+".join(["lines"] * bool(style.dash) + ["markers"] * bool(style.marker)),
        "opacity": style.opacity,
        "line": {"color": style.color, "dash": style.dash or "solid", "width": round(PIXELS * style.width, 1)},
        "marker": {"color": style.color, "symbol": style.marker, "size": round(PIXELS * style.size, 1)},
        "hovertemplate": f"{'%{text}<br>' if line.texts else ''}{panel.x.label} %{{x}}: {value}",
        "meta": line.link or line.role or ("seeds" if not style.dash else "mean" if line.links else "line"),
        "name": name,
        "legendgroup": escape(line.group) or name,
        "showlegend": bool(line.label),
    }
    optional = {"text": [escape(text) for text in line.texts], "customdata": list(line.links)}
    return trace | {key: values for key, values in optional.items() if values}


def _heat_map(heat_map: HeatMap, panel: Panel) -> Json:
    """A heat map; where all is right its cells are grey, on a light page and on a dark one."""
    strongest = heat_map.colors[-1]
    counts = " of %{customdata}" if heat_map.counts else ""
    place = f"{panel.y.label} %{{y}}, {panel.x.label} %{{x}}"
    return {
        "type": "heatmap",
        "z": [[None if value is None else round(value, 3) for value in row] for row in heat_map.values],
        "y": list(panel.y.tick_labels or []),
        "zmin": heat_map.low,
        "zmax": heat_map.high,
        "colorscale": [[0, "rgba(128,128,128,0.1)"], [0.001, _transparent(strongest)], [1, strongest]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": f"{place}<br>%{{z:.1%}}{counts} {heat_map.unit}<extra></extra>",
        "hoverongaps": False,
        "customdata": heat_map.counts or None,
    }


def _axis(axis: Axis) -> Json:
    found: Json = {"title": {"text": escape(axis.label).replace("\n", "<br>")}}
    if axis.scale != "linear":
        found |= {"type": "log"}
    elif axis.range:
        found |= {"range": list(axis.range)}
    if axis.ticks is not None:
        found |= {
            "tickvals": list(axis.ticks),
            "ticktext": list(axis.tick_labels or (f"{tick:g}" for tick in axis.ticks)),
        }
    return found | ({"tickformat": ".0%"} if axis.percent else {})


def _named_once(data: Sequence[Json]) -> list[Json]:
    """The same traces, of which no two have the same entry in the legend."""
    first: dict[str, Json] = {}
    for trace in data:
        if "name" in trace and trace.get("showlegend", True):
            first.setdefault(trace["name"], trace)
    return [
        trace if first.get(trace.get("name", ""), trace) is trace else trace | {"showlegend": False} for trace in data
    ]


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(float(value), 4) for value in values]


def _transparent(color: str) -> str:
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
