"""Pieces of HTML; every text that comes from outside goes through `escape`."""

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

GOOD, MIDDLING, BAD = (
    {"generalises", "holds", "hit", "right"},
    {"mixed", "holds with a correction", "undecided", "falls short"},
    {"fails", "fails as printed", "miss", "not fitted"},
)


class Page:
    """The figures and traces of a report while its sections are written, then the whole page."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any]] = []
        self.traces: list[dict[str, Any]] = []

    def figure(self, figure: dict[str, Any], caption: str = "", controls: str = "") -> str:
        """A place where the page draws a figure; a choice of its variants, if it has several, above it."""
        self.figures.append(figure)
        options = "".join(
            f"<option{' selected' if name == figure['chosen'] else ''}>{escape(name)}</option>"
            for name in figure.get("variants", ())
        )
        controls = f'<select aria-label="which to show">{options}</select>{controls}' if options else controls
        bar = f'<div class="controls">{controls}</div>' if controls else ""
        text = f"<figcaption>{caption}</figcaption>" if caption else ""
        number = len(self.figures) - 1
        return f'<figure class="plot" data-figure="{number}">{text}{bar}<div class="canvas"></div></figure>'

    def render(self, title: str, body: str, footer: str) -> str:
        """The page as one text that needs nothing else."""
        from plotly.offline import get_plotlyjs

        parts = {
            "title": escape(title),
            "style": static("report.css"),
            "body": body,
            "footer": footer,
            "figures": script_json(self.figures),
            "traces": script_json(self.traces),
            "plotly": get_plotlyjs(),
            "script": static("report.js") + static("strings.js"),
        }
        return re.sub(r"{{(\w+)}}", lambda match: parts[match[1]], static("report.html"))


def static(name: str) -> str:
    return (files("ldhd.report") / "static" / name).read_text(encoding="utf-8")


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = (), row_ids: Any = ()) -> str:
    """A table in a box of its own that scrolls when it is wide; headers and cells are HTML."""

    def cells(tag: str, row: Sequence[str]) -> str:
        number = ' class="number"'
        return "".join(f"<{tag}{number if k in numbers else ''}>{cell}</{tag}>" for k, cell in enumerate(row))

    ids = [f' id="{escape(name)}"' for name in row_ids] or [""] * len(rows)
    body = "".join(f"<tr{name}>{cells('td', row)}</tr>" for name, row in zip(ids, rows, strict=True))
    return (
        f'<div class="scroll"><table><thead><tr>{cells("th", headers)}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def pill(verdict: str) -> str:
    """A verdict on its colour."""
    tone = "good" if verdict in GOOD else "mid" if verdict in MIDDLING else "bad" if verdict in BAD else ""
    return f'<span class="pill {tone}">{escape(verdict)}</span>'


def swatch(colour: str) -> str:
    """A dot in an embedding's colour; black is the colour of the text, which is light on a dark page."""
    return (
        '<i class="swatch ink"></i>' if colour == "#000000" else f'<i class="swatch" style="--c:{escape(colour)}"></i>'
    )


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
