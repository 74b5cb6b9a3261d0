"""The results of `ldhd predict`, `ldhd design` and `ldhd verify`, which need no training."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

import ldhd
from ldhd.experiments.groups import by_setting
from ldhd.experiments.predictions import NamedPrediction
from ldhd.experiments.preset import depth
from ldhd.experiments.registered import FILE, Comparison, Register, compare, untested
from ldhd.experiments.scoring import MEASURED, count
from ldhd.experiments.studies import read_runs
from ldhd.parsing import format_range
from ldhd.predict import ASSUMPTIONS, Constraint, Prediction
from ldhd.predict.design import Design, class_names, module_text
from ldhd.report.terminal import Output, folding, percent, plain_table
from ldhd.theory.ledger import Entry

STYLES = {
    **{"generalises": "green", "fails": "red", "does not fit": "red"},
    **{"undecided": "yellow", "does not apply": "yellow"},
    **{"holds": "green", "holds with a correction": "yellow", "fails as printed": "red"},
}
"""The colours of verdicts about predictions and claims."""


Measured = tuple[list[Comparison], int]
"""Comparisons with measured runs, and the number of predictions that no run tests."""


def show_predictions(
    predictions: Sequence[NamedPrediction], measured: Measured | None = None, explain: bool = False
) -> Output:
    """Show predictions and what they assume, the comparison with measured runs and, on request, explanations."""
    listed = [{**found.document(), "position_options": options} for found, options in predictions]
    document: dict[str, Any] = {"predictions": listed, "assumptions": list(ASSUMPTIONS)}
    rows: list[tuple[object, ...]] = []
    for found, _ in predictions:
        setting = found.task, found.layers, format_range(found.train_scales), found.position
        verdicts = _styled(found.verdict), found.linear, found.max_scale, f"{found.risk:.2f}"
        rows.append((*setting, *verdicts, escape(found.reason)))
    names = "task", "layers", "trained on", "position", "verdict", "linear", "up to", "risk"
    # what all rows share stands in the title, so that the reasons have room
    shared = [place for place in range(3) if len({row[place] for row in rows}) == 1]
    title = ", ".join(["predictions, made without training", *(f"{names[place]} {rows[0][place]}" for place in shared)])
    columns = folding(*(name for place, name in enumerate(names) if place not in shared), "why")
    rows = [tuple(cell for place, cell in enumerate(row) if place not in shared) for row in rows]
    caption = "up to: the largest scale that holds, 0 if training is not explained; risk: unneeded cells never seen"
    view: list[RenderableType] = [plain_table(title, columns, rows, caption)]
    for found, _ in predictions if explain else ():
        view.append(Text.from_markup("\n".join(explanation(found))))
    view.append(Text("\n".join(["Assumed:", *(f"- {assumption}" for assumption in ASSUMPTIONS)])))
    if measured is not None:
        comparisons, without_run = measured
        document["untested"] = without_run
        document["comparisons"] = [{**asdict(row), "outcome": row.outcome} for row in comparisons]
        document["counts"] = count(comparisons)
        view.append(comparison_table(comparisons))
        view.extend(score_tables(document["counts"]))
        view.append(f"{without_run} predictions in {FILE} are not tested by these runs")
    return document, view


def show_design(design: Design, embeddings: Mapping[str, tuple[bool, str]], own: str | None) -> Output:
    """Show the design of a task, and which embeddings refine it with what predicted verdict.

    `own` is the verdict about the embedding of the design, which is shown as a class if no other one generalises.
    """
    slots: dict[str, dict[str, Any]] = {}
    groups: dict[tuple[str, str], list[str]] = {}
    for name, slot in design.slots.items():
        words = slot.words if slot else "none of the relations tried serves it"
        classes = f"{len(slot.kept) + 1} of {slot.values}" if slot and slot.values > 1 else "1"
        groups.setdefault((words, classes), []).append(name)
        slots[name] = {
            "relation": words,
            "served": slot is not None,
            "read_with": list(slot.head.slots) if slot else [],
            "values": slot.values if slot else 0,
            "kept": sorted(slot.kept, key=str) if slot else [],
        }
    document = {
        "task": design.task,
        "layers": design.layers,
        "train_scales": list(design.train_scales),
        "test_scales": list(design.test_scales),
        "slots": slots,
        "embeddings": {name: {"refines": refines, "verdict": said} for name, (refines, said) in embeddings.items()},
        "module": module_text(design) if own else None,
        "module_verdict": own,
    }
    title = f"{design.task}: what an embedding must tell apart, {depth(design.layers)}"
    caption = "classes: values that must stay apart, all others may be one class; of so many values in all"
    told_apart = [(", ".join(names), escape(words), classes) for (words, classes), names in groups.items()]
    refining = [(name, "yes" if refines else "no", _styled(said)) for name, (refines, said) in embeddings.items()]
    view: list[RenderableType] = [
        plain_table(title, folding("slots", "tell apart", "classes"), told_apart, caption),
        plain_table("embeddings", ("position", "refines it", "prediction"), refining),
    ]
    if own and all(said != "generalises" for _, said in embeddings.values()):
        names = "+".join(f"my_file:{name}" for name in class_names(design))
        advice = f"ldhd predict {design.task} --position {names}, or ldhd run"
        view += [f"None of them is predicted to generalise; for this one the prediction is: {own}.", ""]
        view += [module_text(design), f"Saved as my_file.py: {advice}"]
    return document, view


def show_ledger(entries: Sequence[Entry], figures: Iterable[Path] = ()) -> Output:
    """Show the claims of the paper that were checked, and the paths of the figures."""
    text = Column("what the paper says, and what holds instead", ratio=1)
    columns = Column("claim", no_wrap=True), Column("verdict", max_width=12), text
    rows = []
    for name, found, _ in entries:
        instead = f"\n[bold]instead:[/bold] {escape(found.correction)}" if found.correction else ""
        rows.append((name, _styled(found.verdict), escape(found.claim) + instead))
    caption = f"computed in {sum(seconds for *_, seconds in entries):.1f} s; --json shows the numbers"
    table = plain_table(count_verdicts(entries), columns, rows, caption)
    table.show_lines = True
    claims = [{"id": name, **asdict(found), "seconds": seconds} for name, found, seconds in entries]
    return {"claims": claims}, [table, *(f"figure: {path}" for path in figures)]


def count_verdicts(entries: Sequence[Entry]) -> str:
    """Return `8 hold; 14 hold with a correction; 2 fail as printed`."""
    counts = {verdict: sum(found.verdict == verdict for _, found, _ in entries) for verdict in STYLES}
    return "; ".join(f"{count} {plural(verdict, count)}" for verdict, count in counts.items() if count)


def plural(verdict: str, count: int) -> str:
    """Return the verdict for a count: `1 holds`, `2 hold`."""
    return verdict if count == 1 else verdict.replace("holds", "hold").replace("fails", "fail")


def repository() -> Path:
    """Return the source tree whose history holds the registered predictions."""
    return Path(ldhd.__file__).parents[2]


def compare_measured(folder: Path, task: str, trust: bool = False) -> Measured:
    """Compare the finished runs of a task, or of `all`, with what the registered predictions say of them.

    A task that the runs name but the user does not is imported only with `trust`.
    """
    runs = [(run.config, run.record) for run in read_runs(folder) if task in ("all", run.config.task)]
    register = Register(repository(), trusted=trust or task != "all")
    firsts = [configs[0] for configs in by_setting(config for config, _ in runs)]
    without_run = [entry for entry in untested(firsts, register) if task in ("all", entry["task"])]
    return compare(runs, register), len(without_run)


def show_registered(added: Sequence[Mapping[str, Any]], kept: int, file: Path) -> Output:
    """Show how many predictions of each verdict were added to a file, and how many settings had one already."""
    counts = Counter(str(entry["verdict"]) for entry in added)
    document = {"file": str(file), "added": len(added), "already_registered": kept, "verdicts": dict(counts)}
    parts = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    note = f"; {kept} settings had one, which stays" if kept else ""
    return document, [f"{len(added)} predictions added{f' ({parts})' if parts else ''}{note}: {file}"]


def explanation(prediction: Prediction) -> Iterator[str]:
    """Yield the strings of a witness, each with marks under the tokens it is about, or the heads, as markup of rich."""
    yield f"[bold]{prediction.task}, {prediction.position}, {depth(prediction.layers)}[/bold]: {prediction.verdict}"
    yield f"  {escape(prediction.reason)}"
    witness = prediction.witness
    if witness is None:
        yield from (f"  slot {slot.slot}, by {escape(slot.head)}" for slot in prediction.slots)
        return
    yield f"  slot {witness.slot}, by {escape(witness.head)}"
    for step in witness.constraints:
        kind = "training" if step.trained else "test"
        yield f"    {escape(step.text)}    {kind} string of scale {step.scale}"
        yield f"    {marks(step)}"
    yield f"  {escape(witness.words)}"
    yield "  ? the query, ^ what it needs, x what is confused with it"


def marks(step: Constraint) -> str:
    """Return a line to stand under a string: `?` the query, `^` the key that must win, `x` the one that must lose."""
    shown = {step.query: "?", step.loser: "x", step.winner: "^"}
    return "".join(shown.get(index, " ") for index in range(len(step.text))).rstrip()


def comparison_table(rows: Sequence[Comparison]) -> Table:
    """Return a table of predicted and measured verdicts."""
    names = "task", "position", "layers", "trained on", "to scale", "seeds", "predicted", "measured", "outcome"
    shown = []
    for row in rows:
        setting = row.task, row.position, row.layers, format_range(row.train_scales), row.largest_scale, row.seeds
        outcome = row.outcome if row.registered else f"{row.outcome}, not registered"
        outcome += f": {row.irregular}" * bool(row.irregular)
        shown.append((*setting, row.predicted or "nothing", row.measured, outcome))
    return plain_table("predicted and measured", [Column(name, no_wrap=True) for name in names], shown)


def score_tables(counts: Mapping[str, Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield the confusion matrix of registered predictions and their counts beside the baselines."""
    for name, found in counts.items():
        matrix = [(said, *met.values()) for said, met in found["confusion"].items() if any(met.values())]
        caption = (
            f"{found['hits']} hits, {found['misses']} misses ({found['irregular']} irregular), {found['declined']} "
            f"declined, {found['open']} open, {found['unregistered']} not registered; "
            f"{found['false_promises']} of {found['promises']} promises false"
        )
        if found["accuracy"] is not None:
            caption += f"\n{percent(found['accuracy'])} % of the decided ones are right, "
            caption += f"{percent(found['accuracy_of_all'])} % if declined ones count as misses"
        for rule, beside in found["baselines"].items():
            caption += (
                f"\n{rule}: {beside['hits']} hits; McNemar {beside['wins']} : {beside['losses']}, p = {beside['p']:.3g}"
            )
        yield plain_table(f"registered, {name}: predicted, then measured", ("", *MEASURED), matrix, caption)


def _styled(verdict: str) -> str:
    style = STYLES.get(verdict)
    return f"[{style}]{verdict}[/{style}]" if style else verdict
