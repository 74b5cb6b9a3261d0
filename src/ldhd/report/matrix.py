"""The comparison matrix: tasks by embeddings, a small curve in each field."""

from collections.abc import Sequence
from html import escape

from ldhd.report.look import look
from ldhd.report.markup import pill, swatch
from ldhd.report.summary import Cell
from ldhd.report.table import percent

WIDTH, HEIGHT, MARGIN = 122.0, 50.0, 5.0


def matrix_section(cells: Sequence[Cell], anchors: dict[tuple[str, str], str]) -> str:
    """A table of small curves, a row a task, a column an embedding; nothing if there is little to compare."""
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    positions = list(dict.fromkeys(cell.position for cell in cells))
    if len(cells) < 2 or (len(tasks) < 2 and len(positions) < 4):
        return ""
    chosen = {position: look(position).colour for position in positions}
    head = "".join(f"<th>{swatch(chosen[name])}<code>{escape(name)}</code></th>" for name in positions)
    rows = ""
    for task in tasks:
        rows += f'<tr><th scope="row"><code>{escape(task)}</code></th>'
        for position in positions:
            found = [cell for cell in cells if (cell.task, cell.position) == (task, position)]
            rows += (
                "<td>" + "".join(_field(cell, chosen[position], anchors, len(found) > 1) for cell in found) + "</td>"
            )
        rows += "</tr>"
    note = (
        "Exact match against scale, training scales shaded; the mean over seeds at the largest test scale, "
        "how many seeds fitted, and the verdict."
    )
    return (
        f'<section id="matrix"><h2>Tasks by embeddings</h2><p class="note">{note}</p><div class="scroll">'
        f'<table class="matrix"><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>'
    )


def _field(cell: Cell, colour: str, anchors: dict[tuple[str, str], str], named: bool) -> str:
    scale = cell.scales[-1]
    name = f"<small>{escape(cell.label)}</small>" if named else ""
    text = f"{percent(cell.mean(scale))} % <small>at {scale}, {cell.fitted}/{len(cell.records)} fitted</small>"
    place = anchors[cell.task, cell.label]
    link = f'<a href="#{place}" aria-label="runs of {escape(cell.label)}">{_curve(cell, colour)}</a>'
    return f"{name}{link}{text}{pill(cell.verdict())}"


def _curve(cell: Cell, colour: str) -> str:
    """Mean and 95 % band as a drawing of its own."""
    first, last = cell.scales[0], cell.scales[-1]

    def x(scale: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (scale - first) / max(last - first, 1), 1)

    def y(value: float) -> float:
        return round(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * value, 1)

    ink = colour == "#000000"
    stroke = 'class="ink-stroke"' if ink else f'stroke="{escape(colour)}"'
    filled = 'class="ink-fill"' if ink else f'fill="{escape(colour)}"'
    found = [(scale, cell.interval(scale)) for scale in cell.scales]
    line = " ".join(f"{x(scale)},{y(interval.value)}" for scale, interval in found)
    upper = [f"{x(s)},{y(i.value if i.high is None else i.high)}" for s, i in found]
    lower = [f"{x(s)},{y(i.value if i.low is None else i.low)}" for s, i in reversed(found)]
    low, high = max(min(cell.train_scales) - 0.5, first - 0.5), min(max(cell.train_scales) + 0.5, last + 0.5)
    wide, tall = max(x(high) - x(low), 0), HEIGHT - 2 * MARGIN
    points = "".join(
        f'<circle cx="{x(s)}" cy="{y(i.value)}" r="2" {filled}><title>scale {s}: {percent(i.value)} %</title></circle>'
        for s, i in found
    )
    return (
        f'<svg class="spark" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="curve of {escape(cell.label)}">'
        f'<rect class="shade" x="{x(low)}" y="{MARGIN}" width="{wide:g}" height="{tall}"/>'
        f'<line class="axis" x1="0" x2="{WIDTH:g}" y1="{y(0)}" y2="{y(0)}"/>'
        f'<polygon points="{" ".join(upper + lower)}" {filled} opacity="0.18"/>'
        f'<polyline points="{line}" fill="none" {stroke} stroke-width="1.8"/>{points}</svg>'
    )
