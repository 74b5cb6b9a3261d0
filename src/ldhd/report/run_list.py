"""The results of `ldhd list` and `ldhd compare`: the runs of a folder, and what differs between some of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, NamedTuple

from rich.markup import escape

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
    settings = [", ".join(options) for options in differences([run.config for run in runs])]
    columns = [*folding("run", "task", "position"), *numeric("seed"), *folding("state", "fitted")]
    columns += numeric("scale", "exact") + folding("settings") * any(settings)
    rows = [
        [escape(_cell(name, run.facts[name])) for name in SHOWN] + [escape(own)] * any(settings)
        for run, own in zip(runs, settings, strict=True)
    ]
    caption = "exact match in % is that at the largest test scale"
    view: View = [plain_table(None, columns, rows), f"{counted(len(runs), 'run')}; {caption}"]
    return {"runs": [run.facts for run in runs]}, view


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
