"""python scripts/tables.py NAME: a table of the documentation, in Markdown, from the stored results of presets.

NAME is `peers`, `ablation`, `depth` (each from the file of its name in results/full), `matrix` (fig3 to fig8),
`dropout` (the runs of results/dropout), `trials` or `comparison` (results/protocol), `bias` or `ranges` (results/bias),
`diagonals` (from the folder of its name there), `words`, `primed` or `steps` (its tasks.jsonl), or `gpt2`
(the learning curve in results/paper).
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from ldhd.bias.cells import Store, read_cells
from ldhd.bias.measure import within_labels
from ldhd.bias.problem import make_problem
from ldhd.bias.summary import Agreement, agreements, fitted
from ldhd.bias.task_cells import read_task_cells
from ldhd.bias.task_summary import Group, groups
from ldhd.experiments.outcomes import Outcome, smallest_depths
from ldhd.experiments.studies import read_runs
from ldhd.report.protocol import run_protocol
from ldhd.report.terminal import bounds, counted, percent
from ldhd.statistics import mean_interval

FULL = Path(__file__).parents[1] / "results" / "full"


def peers() -> str:
    """Extrapolation factors, parameters, and the cost of training on addition relative to RPE."""
    found = outcomes("peers")
    measured = json.loads((FULL.parent / "bench" / "peers.json").read_text())["cases"]
    costs = {case["case"].removeprefix("training, "): case["ratio"] for case in measured}
    tasks, rows = grid(found, factor)
    for label, cells in rows.items():
        own = next(outcome for outcome in found if outcome.label == label)
        cells += [str(own.parameters), f"{costs[own.position]:.2f}"]
    return table(["embedding", *tasks, "parameters", "time"], rows)


def ablation() -> str:
    """Extrapolation factors, and exact match at scale 100."""
    tasks, rows = grid(outcomes("ablation"), lambda found: f"{factor(found)} ({percent(found.exact)} %)")
    return table(["changed", *tasks], rows)


def depth() -> str:
    """The smallest depth at which most seeds fit, and the extrapolation factor at this depth."""
    tasks, rows = grid(smallest_depths(outcomes("depth")), lambda found: f"{found.layers}: {factor(found)}")
    return table(["embedding", *tasks], rows)


def matrix() -> str:
    """Exact match in % at the largest scale, averaged over seeds, with its 95 % interval."""
    tasks, rows = grid(outcomes(*(f"fig{number}" for number in range(3, 9))), measured)
    return table(["embedding", *tasks], rows)


def dropout() -> str:
    """Exact match in % at scales 6, 8 and 10, and the share of digits that are right at 10, seed by seed."""
    rows: dict[str, dict[int, str]] = {}
    for config, record, _ in read_runs(FULL.parent / "dropout"):
        model = config.model_options
        if config.model != "small-2":
            continue  # the settings of two predictions, which have a table of their own
        rates = {place: model.dropout_of(place) for place in ("attention", "residual", "embedding")}
        label = ", ".join(f"{place} {rate:g}" for place, rate in rates.items() if rate) or "none"
        label += "".join(f", {name}" for name in ("null_key", "log_length") if getattr(model, name))
        label = label if config.position == "rpe-square" else f"{config.position}: {label}"
        *digits, _ = next(result.per_position for result in record.results if result.scale == 10)
        cells = " / ".join(percent(record.exact(scale) or 0.0) for scale in (6, 8, 10))
        fitted = "" if record.fitted else ", not fitted"
        rows.setdefault(label, {})[config.seed] = f"{cells} ({percent(sum(digits) / len(digits))}{fitted})"
    seeds = sorted({seed for cells in rows.values() for seed in cells})
    cells = {label: [rows[label].get(seed, "") for seed in seeds] for label in sorted(rows)}
    return table(["dropout", *(f"seed {seed}" for seed in seeds)], cells)


def gpt2() -> str:
    """Exact match in % at the largest training scale and beyond, along the training of GPT-2."""
    (run,) = read_runs(FULL.parent / "paper")
    scales = [str(scale) for scale in run.config.test_scales if scale >= max(run.config.train_scales)]
    rows = {str(row["step"]): [percent(row["test_accuracy"][s]) for s in scales] for row in run.stored.metrics()}
    return table(["step", *scales], rows)


def protocol(name: str) -> str:
    """All trials with the chosen ones, or the chosen settings on the reported seeds, from the stored runs."""
    folder = FULL.parent / "protocol"
    if not folder.is_dir():
        raise SystemExit("there is no results/protocol yet: ldhd protocol --out results/protocol makes it")
    run_protocol(folder, finished_only=True, command="python scripts/tables.py")
    return (folder / f"{name}.md").read_text().rstrip()


def bias(folder: str = ".") -> str:
    """Mean distances of what models learned to references, with 95 % intervals, and how many are interpolators."""
    found = agreements(read_cells(FULL.parent / "bias" / folder))
    references = list(dict.fromkeys(one.reference for one in found))
    cells = {(one.model, one.reference): _agreement(one) for one in found}
    models = dict.fromkeys(one.model for one in found)
    return table(["model", *references], {m: [cells.get((m, name), "") for name in references] for m in models})


def ranges() -> str:
    """For each model the share of unseen points, over concepts, where what it learned is within the labels' range."""
    store = Store(FULL.parent / "bias")
    shares: dict[str, list[float]] = {}
    for row in store.rows.values():
        if not fitted(row):
            continue
        problem = make_problem(row["concept"])
        learned = zip(store.learned[row["key"]].astype(float), row["runs"], strict=True)
        found = [within_labels(problem, values) for values, run in learned if run["fitted"]]
        shares.setdefault(row["model"], []).append(fmean(found))
    cells = {model: mean_interval(values) for model, values in shares.items()}
    rows = {model: [f"{bounds(one)}, mean {percent(one.value)}"] for model, one in cells.items()}
    return table(["model", "unseen points within the range of the labels, in % (95 % over concepts)"], rows)


def words(folder: Path = FULL.parent / "bias") -> str:
    """For each embedding and answer token of copy, agreement with concept, Fourier interpolator and suffix in %."""
    found = [group for group in task_groups(folder, "copy") if group.width is None and not group.rows[0]["priming"]]
    rows = {
        group.rows[0]["position"]: [
            *(" / ".join(percent(part.agreement[name]) for name in AGREEMENTS) for part in group.parts),
            *(percent(value) for value in beyond(group).values()),
        ]
        for group in found
    }
    return table(["embedding", *columns(found[0])], rows)


def primed(folder: Path = FULL.parent / "bias") -> str:
    """For each number of primed words, the share right on unseen words in %: Fourier interpolator, and RPE."""
    chosen = [group for group in task_groups(folder, "copy") if group.width is None]
    found = [group for group in chosen if group.rows[0]["position"] == "rpe"]
    rows = {}
    for group in found:
        theory = [part["references"]["fourier"]["agreement"] for part in group.rows[0]["parts"]]
        pairs = zip(theory, group.parts, strict=True)
        cells = [f"{percent(right)} / {percent(part.agreement['concept'])}" for right, part in pairs]
        rows[str(group.rows[0]["priming"])] = [*cells, *(percent(value) for value in beyond(group).values())]
    return table(["primed words", *columns(found[0])], rows)


def steps(folder: Path = FULL.parent / "bias") -> str:
    """For each scale of parity with and without chain of thought: degrees, error, and what is done off the chain."""
    rows = {}
    for task in ("parity-direct", "parity"):
        (group,) = task_groups(folder, task)
        parts = group.parts
        off = [part.agreement.get("concept") for part in parts]
        rows[f"{task}: degree of the rule"] = [str(part.degrees["concept"]) for part in parts]
        rows[f"{task}: mean degree learned"] = [f"{part.mean_degree:.2f}" for part in parts]
        rows[f"{task}: error"] = [f"{part.error:.2f}" for part in parts]
        if any(value is not None for value in off):
            rows[f"{task}: the step off the chain"] = ["" if value is None else percent(value) for value in off]
    return table(["", *(part.name for part in parts)], rows)


AGREEMENTS = ("concept", "fourier", "suffix")


def beyond(group: Group) -> dict[str, float]:
    """Return the exact match at the scales beyond N0."""
    return {scale: value for scale, value in group.exact.items() if int(scale) > group.rows[0]["train_scale"]}


def columns(group: Group) -> list[str]:
    return [*(part.name for part in group.parts), *(f"exact at {scale}" for scale in beyond(group))]


def task_groups(folder: Path, task: str) -> list[Group]:
    return [group for group in groups(read_task_cells(folder)) if group.rows[0]["task"] == task]


def _agreement(one: Agreement) -> str:
    low, high = one.distance.low, one.distance.high
    interval = "" if low is None or high is None else f" ({low:.2f}-{high:.2f})"
    return f"{one.distance.value:.2f}{interval}, {one.like.successes} of {one.like.n}"


def outcomes(*presets: str) -> list[Outcome]:
    documents = [json.loads((FULL / f"{preset}.json").read_text()) for preset in presets]
    return [Outcome(**outcome) for document in documents for outcome in document["outcomes"]]


def grid(found: Sequence[Outcome], cell: Callable[[Outcome], str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the tasks, and for each label a cell for each task, with the number of seeds that fit unless all do.

    A cell in which most seeds do not fit says that and no number, which would say nothing about length.
    """
    tasks = list(dict.fromkeys(outcome.task for outcome in found))
    most = max(outcome.seeds for outcome in found)
    words = {True: cell, False: lambda outcome: "does not fit"}
    cells = {(outcome.label, outcome.task): words[outcome.fits](outcome) + _seeds(outcome, most) for outcome in found}
    return tasks, {outcome.label: [cells.get((outcome.label, task), "") for task in tasks] for outcome in found}


def table(head: Sequence[str], rows: dict[str, list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([f"`{label}`", *cells] for label, cells in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def factor(outcome: Outcome) -> str:
    return f"{outcome.factor:g}"


def measured(outcome: Outcome) -> str:
    exact = mean_interval(outcome.by_seed)
    known = exact.low is not None and exact.high is not None and exact.low < exact.high
    bounds = f" ({percent(exact.low)}-{percent(exact.high)})" if known else ""
    return f"{percent(exact.value)}{bounds}"


def _seeds(outcome: Outcome, most: int) -> str:
    """Return how many seeds fit, if not all do, or how many there are, if fewer than elsewhere."""
    if outcome.fitted < outcome.seeds:
        return f", {outcome.fitted}/{outcome.seeds} fit"
    return "" if outcome.seeds == most else f", {counted(outcome.seeds, 'seed')}"


if __name__ == "__main__":
    tables = {"peers": peers, "ablation": ablation, "depth": depth, "matrix": matrix, "dropout": dropout}
    tables |= {name: lambda name=name: protocol(name) for name in ("trials", "comparison")}
    tables |= {"words": words, "primed": primed, "steps": steps}
    tables |= {"bias": bias, "ranges": ranges, "diagonals": lambda: bias("diagonals"), "gpt2": gpt2}
    print(tables[sys.argv[1]]())
