"""The results of commands that train and evaluate runs: `ldhd run`, `extend`, `sweep` and `evaluate`."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Failure, Record, RunConfig, make_config
from ldhd.experiments.groups import Group, by_setting, differences, group_runs, setting
from ldhd.report.figures.accuracy import accuracy_figure
from ldhd.report.render_matplotlib import save_figure
from ldhd.report.terminal import Output, folding, numeric, percent, plain_table

WIDEST_ANSWER = 16
"""Answers with more tokens have no row in the table of tokens."""
MOST_FAILURES = 20
"""The largest number of failures that are listed one by one."""


def draw_runs(configs: Sequence[RunConfig], records: Sequence[Record], out: Path) -> Output:
    """Draw the figure of some runs in their folder `out`; show it with tables of exact match and of answer tokens."""
    groups = group_runs(records, {config.hash: config for config in configs})
    figure = save_figure(accuracy_figure(groups), out / figure_name(configs))
    tables = [table for table in (accuracy_table(groups), digit_table(groups)) if table is not None]
    folders = [f"{r.position} seed {r.seed}: {out / r.hash} ({r.seconds:.0f} s of training)" for r in records]
    document = {"runs": [record.document() for record in records], "figure": str(figure)}
    return document, [*tables, *folders, f"figure: {figure}"]


def figure_name(configs: Sequence[RunConfig]) -> str:
    """Name the figure of some runs by task and embeddings, and by a hash of their settings unless they are defaults.

    Runs with other seeds and the same settings have the same figure.
    """
    name = "-".join(dict.fromkeys([configs[0].task, *(config.position for config in configs)])).replace(":", ".")
    settings = sorted({setting(config) for config in configs})
    defaults = {setting(make_config(config.task, config.position, built=False)) for config in configs}
    if settings != sorted(defaults):
        name += f"-{hashlib.sha256(repr(settings).encode()).hexdigest()[:8]}"
    return f"{name}.png"


def accuracy_table(groups: Sequence[Group]) -> Table:
    """Return a table of exact match by scale: a row for each group, its mean over seeds and, below it, the range."""
    scales = sorted({scale for group in groups for scale in group.scales})
    models = list(dict.fromkeys(group.model for group in groups))
    columns = numeric(*map(str, scales))
    for column, scale in zip(columns, scales, strict=True):
        column.header_style = "bold" if scale in groups[0].train_scales else "not bold"
    rows = []
    for group in groups:
        cells = [_cell(group, scale) for scale in scales]
        rows.append((group.label, f"{group.fitted}/{len(group.records)}", *cells, group.verdict()))
    title = f"{groups[0].task}: exact match in % by scale"
    caption = f"model {' and '.join(models)}; training scales in bold"
    return plain_table(title, ["position", "fitted", *columns, "verdict"], rows, caption)


def digit_table(groups: Sequence[Group]) -> Table | None:
    """Return a table of the accuracy of each answer token at scales beyond training; None if there are none."""
    rows = [
        (group.label, scale, *map(percent, group.per_position(scale)))
        for group in groups
        for scale in group.scales
        if scale > max(group.train_scales) and len(group.per_position(scale)) <= WIDEST_ANSWER
    ]
    if not rows:
        return None
    places = [f"z{place}" for place in range(max(map(len, rows)) - 2)]
    return plain_table("accuracy in % of each answer token", ["position", *numeric("scale", *places)], rows)


def show_evaluation(config: RunConfig, results: Sequence[ScaleResult]) -> Output:
    """Show a finished run, tested at the scales of `ldhd evaluate`."""
    document = {"hash": config.hash, "task": config.task, "position": config.position}
    columns = numeric("scale", "instances", "exact match", "95 % interval", "per token")
    rows = [(r.scale, r.n, f"{r.exact:.3f}", f"{r.low:.3f}-{r.high:.3f}", f"{r.per_token:.3f}") for r in results]
    table = plain_table(f"{config.label}, trained on {list(config.train_scales)}", columns, rows)
    return {**document, "results": [asdict(result) for result in results]}, [table]


def summarize_sweep(configs: Sequence[RunConfig], records: Sequence[Record], failures: Sequence[Failure]) -> Output:
    """Show a row for each group of a sweep, and what failed; each of the runs has a record or a failure."""
    by_hash = {record.hash: record for record in records}
    groups = by_setting(configs)
    rows = []
    for own, options in zip(groups, differences([own[0] for own in groups]), strict=True):
        first, scale = own[0], max(own[0].test_scales)
        found = [by_hash[config.hash] for config in own if config.hash in by_hash]
        row = [first.task, first.position, ", ".join(options), f"{len(found)}/{len(own)}"]
        for group in group_runs(found):
            row += [str(group.fitted), str(scale), percent(group.mean(scale)), group.verdict()]
        rows.append([escape(text) for text in row])
    columns = folding("task", "position", "options", "done", "fitted", "scale", "exact", "verdict")
    table = plain_table("exact match in % at the largest test scale, mean over seeds", columns, rows)
    done, asked = len(records), len(configs)
    document = {"asked": asked, "runs": [record.document() for record in records]}
    lines = [*failure_lines(failures), f"{done} of {asked} runs done, {asked - done} failed"]
    return {**document, "failures": [asdict(failure) for failure in failures]}, [table, *lines]


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """Which runs failed, and why."""
    lines = [
        f"failed: {failure.label} ({failure.hash}), tried {failure.attempts} times: {failure.message}"
        for failure in failures[:MOST_FAILURES]
    ]
    return lines + ([f"and {len(failures) - MOST_FAILURES} more failed"] if len(failures) > MOST_FAILURES else [])


def _cell(group: Group, scale: int) -> str:
    values = group.exact(scale)
    if not values:
        return ""
    low, high = percent(min(values)), percent(max(values))
    text = percent(group.mean(scale))
    return text if low == high else f"{text}\n[dim]{low}-\n{high}[/dim]"
