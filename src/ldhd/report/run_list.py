"""The results of `ldhd list` and `ldhd compare`: the runs of a folder, and what differs between some of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column

from ldhd.experiments import Record, RunConfig, RunFolder
from ldhd.experiments.groups import differences, settings_of
from ldhd.experiments.studies import StoredRun, find_finished, find_stored, warn_of
from ldhd.files import BadFileError
from ldhd.names import suggestion
from ldhd.parsing import format_range
from ldhd.report.terminal import Output, View, counted, folding, numeric, percent, plain_table
from ldhd.train import checkpoint

CONDITION = re.compile(r"([\w.+:-]+?)(<=|>=|=|<|>)(.*)")
ORDERS: dict[str, Callable[[Any, Any], bool]] = {"<=": le, ">=": ge, "<": lt, ">": gt}
SHOWN = ("run", "task", "position", "seed", "state", "fitted", "scale", "exact")
"""What `ldhd list` says of a run, beside its settings; runs can be chosen and sorted by these and by any setting."""
SHAREABLE, NUMBERS = ("task", "position", "state", "scale"), ("seed", "scale", "exact", "set")
"""What stands in the title if all runs share it, and what is aligned to the right."""
NARROW = 80
"""Width of a narrow terminal, in characters."""


class ListedRun(NamedTuple):
    """A run in a list."""

    config: RunConfig
    facts: dict[str, Any]
    """What is listed of it, by the names of `SHOWN`, and all its settings."""


def list_runs(folders: Sequence[Path], where: Sequence[str] = (), sort: str = "", descending: bool = False) -> Output:
    """Show the runs in some folder trees, finished or not, that meet all conditions such as `exact>=0.9`."""
    runs = [run for folder in folders for run in _runs(folder)]
    known = dict.fromkeys([*SHOWN, *(key for run in runs for key in run.facts)])
    for condition in where:
        holds = _condition(condition, known)
        runs = [run for run in runs if holds(run.facts)]
    if sort:
        _check_known(sort, known)
        # runs without a value come last either way
        runs = sorted(runs, key=lambda run: _rank(run.facts.get(sort)), reverse=descending)
        runs.sort(key=lambda run: run.facts.get(sort) is None)
    return {"runs": [run.facts for run in runs]}, _view(runs)


def _view(runs: Sequence[ListedRun]) -> View:
    """Return a table of runs, the facts that all of them share in its title, and the settings that differ.

    Settings stand in the table if it then fits into `NARROW` columns, and otherwise in a table of their own.
    """
    cells = {name: [_cell(name, run.facts[name]) for run in runs] for name in SHOWN}
    shared = {name: cells[name][0] for name in SHAREABLE if len(runs) > 1 and len(set(cells[name])) == 1}
    cells = {name: column for name, column in cells.items() if name not in shared}
    settings = [
        _settings(run.config, own) for run, own in zip(runs, differences([r.config for r in runs]), strict=True)
    ]
    numbers = {own: number for number, own in enumerate(dict.fromkeys(filter(None, settings)), start=1)}
    apart = _width({**cells, "settings": settings}) > NARROW
    if numbers and apart:
        cells["set"] = [str(numbers.get(own, "")) for own in settings]
    elif numbers:
        cells["settings"] = settings
    title = ", ".join([counted(len(runs), "run"), *(f"{name} {value}" for name, value in shared.items())])
    caption = "exact match in % is that at the largest test scale"
    columns = [
        Column(
            name, justify="right" if name in NUMBERS else "left", overflow="fold", no_wrap=_stays_whole(name, column)
        )
        for name, column in cells.items()
    ]
    rows = [map(escape, row) for row in zip(*cells.values(), strict=True)]
    view: list[RenderableType] = [plain_table(title, columns, map(list, rows), caption)]
    if numbers and apart:
        numbered = [(number, escape(own)) for own, number in numbers.items()]
        title = "settings that differ within a task and embedding"
        view.append(plain_table(title, [*numeric("set"), *folding("settings")], numbered))
    return view


def _settings(config: RunConfig, options: Sequence[str]) -> str:
    """Return settings as text; those of a single embedding without its name."""
    return ", ".join(option.removeprefix(f"position.{config.position}.") for option in options)


def _stays_whole(name: str, column: Sequence[str]) -> bool:
    """Say whether a column keeps its width; states and settings fold between words, and very long names anywhere."""
    return name not in ("state", "settings") and _width({name: column}) < 30


def _width(cells: Mapping[str, Sequence[str]]) -> int:
    """Return how many characters of a terminal a table with these columns takes."""
    return 2 + sum(2 + max(map(len, [name, *column])) for name, column in cells.items())


def compare_runs(paths: Sequence[Path]) -> Output:
    """Show the settings in which finished runs differ, and their exact match at every scale."""
    runs = [find_finished(path) for path in paths]
    records = [run.record for run in runs]
    settings = [{**settings_of(run.config), "seed": run.config.seed} for run in runs]
    every = {key: [own.get(key) for own in settings] for own in settings for key in own}
    differing = {key: values for key, values in every.items() if any(value != values[0] for value in values)}
    results = {
        scale: [record.exact(scale) for record in records]
        for scale in sorted({result.scale for record in records for result in record.results})
    }
    hard = {
        scale: [record.hard_exact(scale) for record in records]
        for scale in sorted({result.scale for record in records for result in record.hard or []})
    }
    names = [record.hash for record in records]
    rows = [(key, *(escape(_cell(key, value)) for value in values)) for key, values in differing.items()]
    tables = [plain_table("settings that differ" if rows else "no setting differs", folding("setting", *names), rows)]
    for title, found in (("exact match in %", results), ("exact match in % on hard instances", hard)):
        if found:
            cells = [(scale, *map(_share, values)) for scale, values in found.items()]
            tables.append(plain_table(title, numeric("scale", *names), cells))
    document = {
        "runs": names,
        "differences": differing,
        "results": [{"scale": scale, "exact": values} for scale, values in results.items()],
        "hard": [{"scale": scale, "exact": values} for scale, values in hard.items()],
    }
    return document, tables


def _runs(folder: Path) -> list[ListedRun]:
    """Return the runs of a folder tree, each once; one whose config cannot be read is left out with a warning."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: there is no such folder")
    found: dict[str, ListedRun] = {}
    for stored in find_stored(folder):
        try:
            config, record = stored.finished_pair() if stored.is_finished else (stored.config(), None)
        except (BadFileError, OSError) as error:
            warn_of(error)
            continue
        found.setdefault(config.hash, ListedRun(config, _facts(stored, config, record)))
    return list(found.values())


def _facts(stored: StoredRun, config: RunConfig, record: Record | None) -> dict[str, Any]:
    scale = max(config.test_scales)
    return {
        **settings_of(config),
        "run": config.hash,
        "folder": str(stored.path),
        "seed": config.seed,
        "state": _state(stored, config) if isinstance(stored, RunFolder) and not record else "finished",
        "fitted": record and record.fitted,
        "scale": scale,
        "exact": record and record.exact(scale),
        "seconds": record and record.seconds,
    }


def _state(stored: RunFolder, config: RunConfig) -> str:
    """Return why a run is not finished: that it has failed, or how far its checkpoints go."""
    if stored.failure_path.exists():
        return "failed"
    kept = checkpoint.saved(stored.checkpoints)
    step = int(kept[-1].stem.removeprefix("step-")) if kept else 0
    return f"step {step} of {config.train.steps}"


def _condition(text: str, known: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Return the test of a condition such as `task=copy`, `position=rpe*` or `exact>=0.9`."""
    parts = CONDITION.fullmatch(text)
    if parts is None:
        raise ValueError(f"--where takes a condition such as task=copy, position=rpe* or 'exact>=0.9', got {text!r}")
    key, sign, value = parts.groups()
    _check_known(key, known)
    if sign == "=":
        return lambda facts: fnmatchcase(_plain(facts.get(key)), value)
    try:
        bound = float(value)
    except ValueError:
        raise ValueError(f"--where {text}: {value!r} is no number; use = to compare names") from None
    return lambda facts: isinstance(facts.get(key), int | float) and ORDERS[sign](facts[key], bound)


def _check_known(key: str, known: Mapping[str, Any]) -> None:
    if key not in known:
        columns = ", ".join(SHOWN)
        raise ValueError(
            f"no run has {key!r}; there are {columns}, and settings such as train.steps{suggestion(key, known)}"
        )


def _rank(value: Any) -> tuple[bool, float, str]:
    """Return what values are sorted by: numbers first, then text."""
    number = isinstance(value, int | float)
    return (not number, value if number else 0, "" if number else _plain(value))


def _plain(value: Any) -> str:
    """Return a value as it is typed: `1-5` for scales, `true` as in JSON."""
    if isinstance(value, tuple):
        return format_range(value)
    return (
        {True: "true", False: "false", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)
    )


def _cell(name: str, value: Any) -> str:
    if name == "exact":
        return _share(value)
    if name == "fitted":
        return {True: "yes", False: "no", None: ""}[value]
    return _plain(value)


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)
