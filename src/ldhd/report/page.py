"""The page that the sections of a report are written on: its figures, its templates and what these may call."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import ldhd
from ldhd.report.figures.learning_curves import OUTCOMES, seed_outcome
from ldhd.report.figures.marks import Figure
from ldhd.report.look import look
from ldhd.report.render_plotly import to_plotly
from ldhd.report.terminal import bounds, counted, percent

TONES = {
    **dict.fromkeys(("generalises", "holds", "hit", "right"), "good"),
    **dict.fromkeys(("mixed", "holds with a correction", "undecided", "falls short"), "mid"),
    **dict.fromkeys(("fails", "fails as printed", "miss", "not fitted"), "bad"),
}


class Page:
    """Collects the figures and traces of a report while its sections are made, then renders it."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any]] = []
        """Plotly's JSON of each figure; templates name a figure by its index."""
        self.traces: list[dict[str, Any]] = []
        """What the page draws strings from."""

    def add(self, figure: Figure, height: int, legend: bool = True) -> int:
        """Add a figure and return its index."""
        self.figures.append(to_plotly(figure, height, legend))
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

        environment = Environment(
            loader=PackageLoader("ldhd.report"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
        environment.filters |= {"percent": percent, "counted": counted, "bounds": bounds, "witness": _witness}
        environment.filters["indented"] = lambda value: json.dumps(value, indent=1)
        environment.globals |= {"outcomes": OUTCOMES, "seed_outcome": seed_outcome, "look": look, "tones": TONES}
        environment.globals |= {"static": _static, "plotly": Markup(get_plotlyjs()), "version": ldhd.__version__}
        template = environment.get_template("page.html")
        return template.render(figures=self.figures, traces=self.traces, **context)


def _witness(witness: Any) -> str:
    """A witness of a prediction in words."""
    if not witness:
        return ""
    words = witness.get("words") if isinstance(witness, dict) else witness
    return words if isinstance(words, str) else json.dumps(witness)


def _static(name: str) -> Markup:
    return Markup((files("ldhd.report") / "static" / name).read_text(encoding="utf-8"))
