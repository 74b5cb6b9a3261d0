"""Predictions beside measurements in the report, and how many of those registered before the runs were right."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ldhd.experiments import Record, RunConfig
from ldhd.experiments.registered import Comparison, Count, Register, compare, count
from ldhd.report.markup import counted, pill, table
from ldhd.report.prediction import repository

MEANINGS = {"in-sample": "as the paper reports", "out-of-sample": "on what the paper does not report"}


def prediction_section(predictions: Mapping[str, Any], runs: Sequence[tuple[RunConfig, Record]]) -> str:
    """A row for each setting that was measured; predictions that nothing was measured of are counted only."""
    entries = list(predictions["predictions"])
    rows = compare(runs, Register(repository(), {None: entries}))
    told = [row for row in rows if row.predicted is not None]
    counts = "; ".join(_count(name, found) for name, found in count(rows).items())
    note = (
        "Computed without training. Of predictions registered before the runs, that is in results/predictions.json at "
        f"their commit: {counts}. Open are settings that did not fit or have too few seeds; undecided is a miss. "
        f"Of {counted(len(rows), 'setting')} measured here {len(told)} are among the {len(entries)} predictions given."
    )
    body = [_row(row) for row in told]
    headers = ["task", "embedding", "layers", "trained on", "predicted", "measured", "", "why"]
    heading = f'<h2>Predicted and measured</h2><p class="note">{escape(note)}</p>'
    return f'<section id="predictions">{heading}{table(headers, body) if body else ""}</section>'


def _count(name: str, found: Count) -> str:
    words = f"{found.hits} hit{'s' * (found.hits != 1)}, {found.misses} miss{'es' * (found.misses != 1)}"
    return f"{name} ({MEANINGS[name]}) {words}, {found.open} open, {found.unregistered} not registered"


def _row(row: Comparison) -> list[str]:
    options = ", ".join(f"{k}={v}" for own in row.position_options.values() for k, v in own.items())
    embedding = f"<code>{escape(row.position)}</code>" + (f"<small>{escape(options)}</small>" if options else "")
    scales = f"{min(row.train_scales)}-{max(row.train_scales)}, to {row.largest_scale}"
    measured = pill(row.measured) + f"<small>{counted(row.seeds, 'seed')}</small>"
    outcome = pill(row.outcome) + ("" if row.registered else "<small>not registered</small>")
    predicted = pill(row.predicted or "")
    names = [f"<code>{escape(row.task)}</code>", embedding, str(row.layers), scales]
    return [*names, predicted, measured, outcome, _shortened(row.witness)]


def _shortened(witness: Any) -> str:
    """A witness in one line, whole when unfolded."""
    if not witness:
        return ""
    words = witness.get("words") if isinstance(witness, dict) else witness
    text = words if isinstance(words, str) else json.dumps(witness)
    if len(text) <= 90:
        return escape(text)
    return f"<details><summary>{escape(text[:80])}…</summary>{escape(text)}</details>"
