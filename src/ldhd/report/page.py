"""The page of a report: its headline, its figures, its templates and what these may call."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import ldhd
from ldhd.experiments.groups import Group
from ldhd.parsing import evenly
from ldhd.report.figures.learning_curves import OUTCOMES, seed_outcome
from ldhd.report.figures.marks import Figure
from ldhd.report.look import look
from ldhd.report.render_plotly import to_plotly
from ldhd.report.runs import Runs
from ldhd.report.terminal import bounds, counted, percent

TONES = {
    **dict.fromkeys(("generalises", "holds", "hit", "right"), "good"),
    **dict.fromkeys(("mixed", "holds with a correction", "undecided", "falls short"), "mid"),
    **dict.fromkeys(("fails", "fails as printed", "miss", "does not fit"), "bad"),
}
VERBS = {
    "generalises": "generalises on",
    "too few seeds, generalises": "seems to generalise on",
    "mixed": "is mixed on",
    "too few seeds, mixed": "seems mixed on",
    "fails": "fails on",
    "too few seeds, fails": "seems to fail on",
    "does not fit": "does not fit",
}
"""From the best verdict to the worst."""
MOST_POSITIONS, MOST_TASKS = 6, 3
"""Embeddings named in the headline, and tasks up to which they are named there too."""


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

        loader = PackageLoader("ldhd.report")
        environment = Environment(
            loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
        )
        environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
        environment.filters |= {
            "percent": percent,
            "counted": counted,
            "bounds": bounds,
            "witness": _witness,
            "some": evenly,
        }
        environment.filters["indented"] = lambda value: json.dumps(value, indent=1)
        environment.globals |= {"outcomes": OUTCOMES, "seed_outcome": seed_outcome, "look": look, "tones": TONES}
        environment.globals |= {"static": _static, "plotly": Markup(get_plotlyjs()), "version": ldhd.__version__}
        template = environment.get_template("page.html")
        return template.render(figures=self.figures, traces=self.traces, **context)


def headline(groups: Sequence[Group]) -> Markup:
    """Say on which tasks each embedding generalises and on which it does not, each at its best setting."""
    if not groups:
        return Markup("No finished runs.")
    found: dict[str, dict[str, str]] = {}  # embedding -> task -> the best verdict of its settings
    for group in groups:
        tasks, verdict = found.setdefault(group.position, {}), group.verdict()
        verdict += f", {group.tendency()}" if verdict == "too few seeds" else ""
        tasks[group.task] = min(tasks.get(group.task, "does not fit"), verdict, key=list(VERBS).index)
    best = ", each at its best setting" if len(groups) > sum(map(len, found.values())) else ""
    counts = {name: sum(v.endswith("generalises") for v in tasks.values()) for name, tasks in found.items()}
    if len({group.task for group in groups}) > MOST_TASKS:
        return _counted_tasks(found, counts) + f"{best}."
    ranked = sorted(found, key=lambda name: -counts[name])
    sentences = []
    for name in ranked[:MOST_POSITIONS]:
        by_verdict = {verb: [t for t, v in found[name].items() if v == verdict] for verdict, verb in VERBS.items()}
        parts = [Markup(verb) + " " + _listed(tasks) for verb, tasks in by_verdict.items() if tasks]
        sentences.append(Markup("<b>{}</b> ").format(name) + _listed(parts))
    rest = len(ranked) - MOST_POSITIONS
    more = f"; {counted(rest, 'other embedding')} below" if rest > 0 else ""
    return Markup("; ").join(sentences) + f"{more}{best}."


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


def _counted_tasks(found: Mapping[str, Mapping[str, str]], counts: Mapping[str, int]) -> Markup:
    """`Of 8 tasks, a generalises on 7, b on 1, c and d on none`."""
    tasks = {task for verdicts in found.values() for task in verdicts}
    by_count: dict[int, list[Markup]] = {}
    for name, verdicts in found.items():
        limited = "" if len(verdicts) == len(tasks) else f" (tried on {len(verdicts)})"
        by_count.setdefault(counts[name], []).append(Markup("<b>{}</b>{}").format(name, limited))
    ranked = sorted(by_count, reverse=True)
    verb = "generalises " if len(by_count[ranked[0]]) == 1 else "generalise "
    parts = [_listed(by_count[count]) + f" {verb * (count == ranked[0])}on {count or 'none'}" for count in ranked]
    few = any("too few seeds" in verdict for verdicts in found.values() for verdict in verdicts.values())
    note = ", counting one seed or two where there are no more" if few else ""
    return Markup("Of {} tasks, ").format(len(tasks)) + Markup(", ").join(parts) + note


def _listed(names: Sequence[str]) -> Markup:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return Markup(" and ").join([Markup(", ").join(first), last] if first else [last])


def _witness(witness: Any) -> str:
    """A witness of a prediction in words."""
    if not witness:
        return ""
    words = witness.get("words") if isinstance(witness, dict) else witness
    return words if isinstance(words, str) else json.dumps(witness)


def _static(name: str) -> Markup:
    return Markup((files("ldhd.report") / "static" / name).read_text(encoding="utf-8"))
