"""The page of a report: its figures, its templates and what these may call."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import ldhd
from ldhd.parsing import evenly
from ldhd.report.configurations import badge
from ldhd.report.figures.learning_curves import OUTCOMES, seed_outcome
from ldhd.report.figures.marks import Figure
from ldhd.report.look import look, position_title
from ldhd.report.overview import cell_title
from ldhd.report.render_plotly import to_plotly
from ldhd.report.runs import Runs
from ldhd.report.terminal import bounds, counted, percent

TONES = {
    **dict.fromkeys(("generalises", "holds", "hit", "right"), "good"),
    **dict.fromkeys(("mixed", "holds with a correction", "undecided", "falls short"), "mid"),
    **dict.fromkeys(("fails", "fails as printed", "miss", "does not fit"), "bad"),
}


class Page:
    """Collects the figures and traces of a report while its sections are made, then renders it."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any]] = []
        """Plotly's JSON of each figure; templates name a figure by its index."""
        self.traces: list[dict[str, Any]] = []
        """What the page draws strings from."""

    def add(self, figure: Figure, height: int, legend: bool = True, shown: Sequence[str] | None = None) -> int:
        """Add a figure and return its index; of its groups, only those `shown` are seen at first."""
        drawn = to_plotly(figure, height, legend)
        self.figures.append(drawn if shown is None else drawn | {"shown": list(map(escape, shown))})
        return len(self.figures) - 1

    def add_choice(self, figures: Mapping[str, Figure], height: int) -> int:
        """Add figures of which the page shows one at a time, the last at first, and return the index of them all."""
        found = {name: to_plotly(figure, height) for name, figure in figures.items()}
        last = list(found)[-1]
        variants = {name: figure["data"] for name, figure in found.items()}
        self.figures.append({"variants": variants, "chosen": last, "layout": found[last]["layout"]})
        return len(self.figures) - 1

    def render(self, **context: Any) -> str:
        """Return the page as one text that needs nothing else; `context` is what its templates read."""
        from plotly.offline import get_plotlyjs

        template = environment().get_template("page.html")
        plotly = Markup(get_plotlyjs())
        return template.render(figures=self.figures, traces=self.traces, plotly=plotly, **context)


def environment() -> Environment:
    """Return the templates, with what they may call."""
    loader = PackageLoader("ldhd.report")
    found = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    found.filters |= {
        "percent": percent,
        "counted": counted,
        "bounds": bounds,
        "witness": _witness,
        "some": evenly,
        "next": next,
        "indented": lambda value: json.dumps(value, indent=1),
    }
    found.globals |= {
        "outcomes": OUTCOMES,
        "seed_outcome": seed_outcome,
        "look": look,
        "title_of": position_title,
        "tone": tone,
        "badge": badge,
        "cell_title": cell_title,
        "static": _static,
        "version": ldhd.__version__,
    }
    return found


def tone(verdict: str) -> str:
    """Return the colour class of a verdict or badge; a badge that counts seeds is between good and bad."""
    return "mid" if verdict.startswith("in ") else TONES.get(verdict, "")


def facts(runs: Runs) -> list[tuple[int, str, str]]:
    """Return counts with their nouns, and `alarm` for those that should be none; zeros are left out."""
    records = [run.record for run in runs.finished]
    counts = [
        (len(records), "runs", ""),
        (len({record.task for record in records}), "tasks", ""),
        (len({record.position for record in records}), "embeddings", ""),
        (len({record.seed for record in records}), "seeds", ""),
        (sum(not record.fitted for record in records), "not fitted", "alarm"),
        (len(runs.failed), "failed", "alarm"),
        (len(runs.unfinished), "unfinished", ""),
        (len(runs.problems), "unreadable", "alarm"),
    ]
    shown = [fact for fact in counts if fact[0] or fact[1] == "runs"]
    return [(count, name.removesuffix("s") if count == 1 else name, tone) for count, name, tone in shown]


def _witness(witness: Any) -> str:
    """A witness of a prediction in words."""
    if not witness:
        return ""
    words = witness.get("words") if isinstance(witness, dict) else witness
    return words if isinstance(words, str) else json.dumps(witness)


def _static(name: str) -> Markup:
    return Markup((files("ldhd.report") / "static" / name).read_text(encoding="utf-8"))
