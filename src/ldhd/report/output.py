"""The results of commands that train and evaluate runs: `ldhd run`, `extend`, `sweep`, `evaluate` and `show`."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from torch import Tensor

from ldhd.evaluate import ScaleResult, Trace, trace
from ldhd.experiments import Failure, Record, RunConfig, load_run, make_config
from ldhd.experiments.groups import Group, by_setting, differences, group_runs, setting
from ldhd.parsing import format_range
from ldhd.report.figures.accuracy import accuracy_figure
from ldhd.report.render_matplotlib import save_figure
from ldhd.report.terminal import Output, folding, numeric, percent, plain_table
from ldhd.tasks import Needs, Vocabulary

WIDEST_ANSWER = 16
"""Answers with more tokens have no row in the table of tokens."""
MOST_FAILURES = 20
"""The largest number of failures that are listed one by one."""


def draw_runs(configs: Sequence[RunConfig], records: Sequence[Record], out: Path) -> Output:
    """Draw the figure of some runs in their folder `out`; show it with tables of exact match and of answer tokens."""
    groups = group_runs(records, {config.hash: config for config in configs})
    figure = save_figure(accuracy_figure(groups), out / figure_name(configs))
    tables = [table for table in (accuracy_table(groups), hard_table(groups), digit_table(groups)) if table is not None]
    folders = [f"{r.position} seed {r.seed}: {out / r.hash} ({r.seconds:.0f} s of training)" for r in records]
    document = {"runs": [record.document() for record in records], "figure": str(figure)}
    return document, [*tables, *folders, f"figure: {figure}"]


def figure_name(configs: Sequence[RunConfig]) -> str:
    """Name the figure of some runs by task, embeddings and, unless they are defaults, a hash of all but the seeds."""
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
        rows.append((escape(group.label), f"{group.fitted}/{len(group.records)}", *cells, group.verdict()))
    title = f"{groups[0].task}: exact match in % by scale"
    caption = f"model {' and '.join(models)}; training scales in bold"
    return plain_table(title, ["position", "fitted", *columns, "verdict"], rows, caption)


def hard_table(groups: Sequence[Group]) -> Table | None:
    """Return a table of exact match on hard instances, a row for each group; None if no group was tested on them."""
    scales = sorted({scale for group in groups for scale in group.hard_scales})
    if not scales:
        return None
    rows = [
        (group.label, *(percent(fmean(found)) if (found := group.hard(scale)) else "not measured" for scale in scales))
        for group in groups
    ]
    title = f"{groups[0].task}: exact match in % on the hard instances of each scale"
    return plain_table(title, ["position", *numeric(*map(str, scales))], rows)


def digit_table(groups: Sequence[Group]) -> Table | None:
    """Return a table of the accuracy of each answer token at scales beyond training; None if there are none."""
    rows = [
        (escape(group.label), scale, *(percent(mean.value) for mean in group.per_position(scale)))
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
    table = plain_table(f"{config.label}, trained on {format_range(config.train_scales)}", columns, rows)
    return {**document, "results": [asdict(result) for result in results]}, [table]


def trace_run(folder: Path, prompt: str, device: str = "cpu", trust: bool = False) -> Output:
    """Let the model of a finished run answer a prompt; show its output, attention on needed slots and anchors."""
    _, task, model = load_run(folder, device, trust)
    vocabulary = task.vocabulary
    found = trace(model, task.read(vocabulary.parse(prompt)), vocabulary)
    needs = task.needs(found.instance)
    document = {
        "prompt": found.instance.prompt,
        "answer": found.instance.answer,
        "output": found.output,
        "correct": found.first_error is None,
        "first_error": found.first_error,
        "needs": needs,
        "attention_on_needs": found.slots(needs),
        "anchors": [[_strongest(row) for row in layer] for layer in found.anchors.values()],
    }
    attention = "\nattention on what each answer token needs, token@index (the strongest head):"
    view: list[RenderableType] = [_output(found, vocabulary)]
    if found.attention:
        view += [attention, _attention(found, needs, vocabulary)]
    if found.anchors:
        view.append("anchors, the token each position measures its distance from (~ where its weight is below 0.9):")
        view.append(_anchors(found, vocabulary))
    return document, view


def summarize_sweep(configs: Sequence[RunConfig], records: Sequence[Record], failures: Sequence[Failure]) -> Output:
    """Show a row for each group of a sweep, and what failed; each of the runs has a record or a failure."""
    by_hash = {record.hash: record for record in records}
    groups = by_setting(configs)
    rows = []
    for own, options in zip(groups, differences([own[0] for own in groups]), strict=True):
        first, scale = own[0], max(own[0].test_scales)
        found = [by_hash[config.hash] for config in own if config.hash in by_hash]
        row = [first.task, first.position, ", ".join(options), f"{len(found)}/{len(own)}"]
        for group in group_runs(found, {config.hash: config for config in own}):
            row += [str(group.fitted), str(scale), percent(group.interval(scale).value), group.verdict()]
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
    text = percent(group.interval(scale).value)
    return text if low == high else f"{text}\n[dim]{low}-\n{high}[/dim]"


def _output(found: Trace, vocabulary: Vocabulary) -> Text:
    instance, output, error = found.instance, found.output, found.first_error
    prompt, answer = vocabulary.spell(instance.prompt), vocabulary.spell(instance.answer)
    text = Text(f"prompt  {prompt}\nanswer  {answer}\noutput  ")
    if error is None:
        return text.append(vocabulary.spell(output), style="green").append("   correct")
    space = " " if vocabulary.words and error else ""
    text.append(vocabulary.spell(output[:error]) + space, style="green")
    text.append(vocabulary.spell(output[error:]), style="bold red")
    written = vocabulary.spell(output[error : error + 1]) or "nothing"
    right = vocabulary.word(instance.answer[error])
    return text.append(f"   first error at token {error}: {written} instead of {right}")


def _attention(found: Trace, needs: Needs, vocabulary: Vocabulary) -> Table:
    slots = list(dict.fromkeys(slot for needed in needs for slot in needed))
    rows = []
    words = [escape(vocabulary.word(token)) for token in found.instance.text]
    written = words[len(found.instance.prompt) :]
    for token, needed, weights in zip(written, needs, found.slots(needs), strict=True):
        cells = dict.fromkeys(slots, "")
        for slot, index in needed.items():  # such as `7@2 0.98`
            cells[slot] = "absent" if index is None else f"{words[index]}@{index} {weights[slot]:.2f}"
        rows.append((token, *cells.values()))
    return plain_table(None, ["token", *numeric(*slots)], rows)


def _anchors(found: Trace, vocabulary: Vocabulary) -> Table:
    anchors, text = found.anchors, [escape(vocabulary.word(token)) for token in found.instance.text[:-1]]
    first = "layer" if all(len(heads) == 1 for heads in anchors.values()) else "head"
    rows = []
    several = len({term for _, term in anchors}) > 1
    for (index, term), heads in anchors.items():
        layer = f"{index}" + ("abcdefgh"[term] if several else "")
        for head, row in enumerate(_strongest(weights) for weights in heads):
            cells = [text[a["index"]] if a["weight"] >= 0.9 else f"[dim]~{text[a['index']]}[/dim]" for a in row]
            rows.append((layer if len(heads) == 1 else f"{layer}.{head}", *cells))
    return plain_table(None, [first, *numeric(*(f"{token}\n{index}" for index, token in enumerate(text)))], rows)


def _strongest(weights: Tensor) -> list[dict[str, Any]]:
    """Return for each position the index with the largest anchor weight, and that weight."""
    largest = zip(*weights.max(dim=-1), strict=True)
    return [{"index": int(index), "weight": round(float(value), 4)} for value, index in largest]
