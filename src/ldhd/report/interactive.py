"""Figures of the report as plotly's JSON; colours of text and lines are set in the page, by its scheme."""

from collections.abc import Sequence
from html import escape
from typing import Any

from ldhd.report.errors import carry_map, error_map
from ldhd.report.look import Look
from ldhd.report.statistics import mean_interval
from ldhd.report.summary import Cell

Figure = dict[str, Any]

MOST_SCALES = 12
"""Scales to choose from in a figure of one scale at a time."""


def digit_figure(cells: Sequence[Cell], styles: Sequence[Look]) -> Figure | None:
    """Accuracy of each answer token, a choice of scales beyond training; None if no scale is beyond."""
    scales = sorted({scale for cell in cells for scale in cell.scales if scale > max(cell.train_scales)})
    if not scales:
        return None
    variants = {}
    for scale in _spread(scales, MOST_SCALES):
        traces = []
        for index, (cell, look) in enumerate(zip(cells, styles, strict=True)):
            rows = _token_rows(cell, scale)
            traces += _band(cell.label, look, rows) if rows else []
            line = _thinner(_line(cell.label, look), index) | {
                "x": [x for x, *_ in rows],
                "y": [round(y, 4) for _, y, *_ in rows],
            }
            traces.append(line | {"hovertemplate": "token %{x}: %{y:.1%}"})
        variants[f"scale {scale}"] = traces
    axis = {"title": {"text": "answer token, the first written first"}, "dtick": 1 if scales[-1] <= 15 else None}
    layout = {"xaxis": axis, "yaxis": _percent("right tokens"), "height": 360}
    return {"variants": variants, "chosen": f"scale {scales[-1]}", "layout": layout}


def error_figure(cell: Cell) -> Figure:
    """Share of wrong tokens by scale and place in the answer, over all seeds."""
    scales, values = error_map(cell)
    hover = "scale %{y}, token %{x}<br>%{z:.1%} wrong<extra></extra>"
    return _heat(values, list(map(str, scales)), "answer token", "scale", hover)


def carry_figure(cell: Cell) -> Figure | None:
    """Share of wrong tokens by the length of the carry chain into them, beyond training; None without carries."""
    found = carry_map(cell)
    if found is None:
        return None
    lengths, values, counts = found
    hover = "carry chain of %{y}, token %{x}<br>%{z:.1%} of %{customdata} wrong<extra></extra>"
    return _heat(values, list(map(str, lengths)), "answer token", "carry chain", hover, counts)


def _token_rows(cell: Cell, scale: int) -> list[tuple[int, float, float | None, float | None]]:
    """Each answer token's accuracy over seeds, with its interval."""
    rows = [result.per_position for record in cell.records for result in record.results if result.scale == scale]
    found = []
    for place in range(max(map(len, rows), default=0)):
        interval = mean_interval([row[place] for row in rows if place < len(row)])
        found.append((place, interval.value, interval.low, interval.high))
    return found


def _band(label: str, look: Look, rows: Sequence[tuple[int, float, float | None, float | None]]) -> list[Figure]:
    """The 95 % interval as an area; nothing for one seed."""
    kept = [(x, low, high) for x, _, low, high in rows if low is not None and high is not None]
    if not kept:
        return []
    return [
        {
            "x": [x for x, *_ in kept] + [x for x, *_ in reversed(kept)],
            "y": [round(high, 4) for *_, high in kept] + [round(low, 4) for _, low, _ in reversed(kept)],
            "fill": "toself",
            "fillcolor": _transparent(look.colour),
            "line": {"width": 0},
            "mode": "lines",
            "hoverinfo": "skip",
            "showlegend": False,
            "legendgroup": escape(label),
            "name": escape(label),
            "meta": "band",
        }
    ]


def _line(label: str, look: Look) -> Figure:
    return {
        "mode": "lines+markers",
        "name": escape(label),
        "legendgroup": escape(label),
        "line": {"color": look.colour, "dash": look.dash[1], "width": 2.4},
        "marker": {"color": look.colour, "symbol": look.marker[1], "size": 8},
    }


def _thinner(line: Figure, index: int) -> Figure:
    """Later lines are thinner, so that lines on top of each other are all seen."""
    width, size = max(1.6, 4.0 - 0.7 * index), max(5.0, 11.0 - 1.5 * index)
    return line | {"line": line["line"] | {"width": width}, "marker": line["marker"] | {"size": size}}


def _heat(
    values: Sequence[Sequence[float | None]], rows: list[str], x: str, y: str, hover: str, counts: Any = None
) -> Figure:
    trace = {
        "type": "heatmap",
        "z": [[None if value is None else round(value, 3) for value in row] for row in values],
        "y": rows,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "rgba(128,128,128,0.1)"], [0.001, "rgba(213,94,0,0.16)"], [1, "rgba(213,94,0,1)"]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": hover,
        "hoverongaps": False,
        "customdata": counts,
    }
    y_axis = {"title": {"text": y}, "type": "category", "autorange": "reversed", "showgrid": False}
    layout = {"xaxis": {"title": {"text": x}, "showgrid": False}, "yaxis": y_axis, "margin": {"t": 6, "l": 48}}
    return {"data": [trace], "layout": layout | {"height": 110 + 17 * min(len(rows), 16)}}


def _spread(values: Sequence[int], most: int) -> list[int]:
    """At most so many of the values, evenly chosen, the last among them."""
    if len(values) <= most:
        return list(values)
    return sorted({values[round(k * (len(values) - 1) / (most - 1))] for k in range(most)})


def _percent(title: str) -> dict[str, Any]:
    return {"title": {"text": title}, "range": [-0.04, 1.04], "tickformat": ".0%"}


def _transparent(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
