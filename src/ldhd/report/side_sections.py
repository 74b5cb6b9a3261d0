"""The parts of the report that do not come from runs: the ledger and benchmarks."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ldhd.report.bench import MEANINGS
from ldhd.report.interactive_courses import growth_figure
from ldhd.report.ledger import plural
from ldhd.report.markup import Page, counted, pill, table

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
