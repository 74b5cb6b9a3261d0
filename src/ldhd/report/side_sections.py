"""The parts of the report that do not come from runs alone: the ledger, predictions, benchmarks."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ldhd.experiments import RunConfig
from ldhd.report.bench import MEANINGS
from ldhd.report.interactive_courses import growth_figure
from ldhd.report.ledger import plural
from ldhd.report.markup import Page, counted, pill, table
from ldhd.report.summary import Cell
from ldhd.report.table import percent

MOST_ROWS = 16
"""Rows of a benchmark's table shown at once; a longer table unfolds."""


def ledger_section(ledger: Mapping[str, Any]) -> str:
    """The paper's claims as `ldhd verify --json` gave them, to be filtered by verdict."""
    claims = list(ledger["claims"])
    counts: dict[str, int] = {}
    for claim in claims:
        counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
    buttons = "".join(
        f'<button aria-pressed="true" data-verdict="{escape(verdict)}">{escape(f"{count} {plural(verdict, count)}")}'
        "</button>"
        for verdict, count in counts.items()
    )
    note = f"{counted(len(claims), 'claim')}, each computed as printed and, where that fails, as corrected."
    return (
        f'<section id="ledger"><h2>The claims of the paper, computed</h2><p class="note">{note}</p>'
        f'<div class="controls" data-filter="claims">{buttons}</div>'
        f'<div id="claims">{"".join(map(_claim, claims))}</div></section>'
    )


def prediction_section(predictions: Mapping[str, Any], cells: Sequence[Cell], configs: Mapping[str, RunConfig]) -> str:
    """Each prediction beside what was measured, and how often it was right."""
    compared = [(prediction, *_measured(prediction, cells, configs)) for prediction in predictions["predictions"]]
    outcomes = [outcome for *_, outcome in compared]
    counts = ", ".join(f"{outcomes.count(name)} {name}" for name in ("hit", "miss", "open"))
    rows = []
    for prediction, cell, outcome in compared:
        scale = prediction.get("max_scale")
        measured = (
            pill(cell.verdict()) + f"<small>{percent(cell.mean(cell.scales[-1]))} % at {cell.scales[-1]}</small>"
            if cell
            else "no runs"
        )
        predicted = pill(prediction["verdict"]) + (f"<small>to scale {escape(str(scale))}</small>" if scale else "")
        witness = _shortened(prediction.get("witness"))
        names = [f"<code>{escape(str(prediction[key]))}</code>" for key in ("task", "position")]
        rows.append([*names, escape(str(prediction.get("layers", ""))), predicted, measured, pill(outcome), witness])
    headers = ["task", "embedding", "layers", "predicted", "measured", "", "why"]
    note = f"Computed without training: {counts}. Open are those without a verdict on both sides."
    heading = f'<h2>Predicted and measured</h2><p class="note">{note}</p>'
    return f'<section id="predictions">{heading}{table(headers, rows)}</section>'


def bench_section(page: Page, benchmarks: Sequence[Mapping[str, Any]]) -> str:
    """Ratios of `ldhd bench --json`, each with its range over repetitions."""
    cases = [case for benchmark in benchmarks for case in benchmark["cases"]]
    parts = []
    growth = growth_figure(cases)
    if growth:
        parts.append(page.figure(growth, "Whole attention, forward and backward: time against length."))
    for measure in dict.fromkeys(case.get("measure", "speed") for case in cases):
        own = [case for case in cases if case.get("measure", "speed") == measure]
        shown = table(
            ["case", "shape", "against", "ratio", "range", ""], [_bench_row(case, own) for case in own], (3, 4)
        )
        title = f"<b>{escape(measure)}</b>: {escape(MEANINGS.get(measure, ''))}"
        if len(own) > MOST_ROWS:
            parts.append(f"<details><summary>{title} ({len(own)} rows)</summary>{shown}</details>")
        else:
            parts.append(f"<p>{title}</p>{shown}")
    machines = {", ".join(f"{key} {value}" for key, value in (b.get("machine") or {}).items()) for b in benchmarks}
    where = "".join(f'<p class="note">{escape(machine)}</p>' for machine in sorted(machines))
    return f'<section id="bench"><h2>What it costs</h2>{where}{"".join(parts)}</section>'


def outcome(prediction: str, measured: str | None) -> str:
    """`hit`, `miss`, or `open` where one side gives no verdict."""
    if prediction not in ("generalises", "fails") or measured not in ("generalises", "fails", "mixed"):
        return "open"
    return "hit" if prediction == measured else "miss"


def _measured(
    prediction: Mapping[str, Any], cells: Sequence[Cell], configs: Mapping[str, RunConfig]
) -> tuple[Cell | None, str]:
    """The cell a prediction is about: task, embedding, and layers and training scales where it names them."""
    for cell in cells:
        config = configs[cell.records[0].hash]
        same = (cell.task, cell.position) == (prediction["task"], prediction["position"])
        layers = prediction.get("layers") in (None, config.model_options.layers)
        scales = prediction.get("train_scales") in (None, list(config.train_scales))
        if same and layers and scales:
            return cell, outcome(prediction["verdict"], cell.verdict())
    return None, "open"


def _claim(claim: Mapping[str, Any]) -> str:
    instead = f"<p><b>Instead:</b> {escape(str(claim['correction']))}</p>" if claim.get("correction") else ""
    numbers = escape(json.dumps(claim.get("evidence"), indent=1))
    return (
        f'<div class="claim" data-verdict="{escape(claim["verdict"])}"><div><code>{escape(claim["id"])}</code><br>'
        f"{pill(claim['verdict'])}</div><div><p>{escape(claim['claim'])}</p>{instead}"
        f"<details><summary>numbers</summary><pre>{numbers}</pre></details></div></div>"
    )


def _bench_row(case: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> list[str]:
    low, high = case["spread"]
    span = "" if low == high else f"{low:.2f}–{high:.2f}"  # noqa: RUF001
    largest = max(max(other["spread"][1], other["ratio"], 1.0) for other in own)
    left, right, at, one = (100 * value / largest for value in (low, high, case["ratio"], 1.0))
    bar = (
        f'<div class="bar"><u style="left:{one:.1f}%"></u><i style="left:{left:.1f}%;width:{right - left:.1f}%"></i>'
        f'<b style="left:{at:.1f}%"></b></div>'
    )
    names = [escape(str(case[key])) for key in ("case", "shape", "against")]
    return [*names, f"{case['ratio']:.2f}", span, bar]


def _shortened(witness: Any) -> str:
    """A witness in one line, whole when unfolded."""
    if not witness:
        return ""
    words = witness.get("words") if isinstance(witness, dict) else witness
    text = words if isinstance(words, str) else json.dumps(witness)
    if len(text) <= 90:
        return escape(text)
    return f"<details><summary>{escape(text[:80])}…</summary>{escape(text)}</details>"
