"""The runs in some folders: the finished, the failed, the unfinished, and files that cannot be read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ldhd.experiments import Record, RunConfig, read_config, read_record
from ldhd.experiments.config import FORMAT_VERSION
from ldhd.experiments.record import FAILURE, read_metrics
from ldhd.files import BadFileError, read_json
from ldhd.positions import POSITIONS
from ldhd.report.summary import kind
from ldhd.tasks import TASKS

DEEPEST = 3
"""How many folders below the one that was named a run may lie."""

TRACE = "trace.json"


@dataclass(frozen=True)
class Run:
    """A finished run."""

    folder: Path
    config: RunConfig
    record: Record


@dataclass
class Runs:
    """What was found; `problems` has a line for each file that could not be read."""

    finished: list[Run] = field(default_factory=list)
    failed: dict[Path, str] = field(default_factory=dict)
    unfinished: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @cached_property
    def configs(self) -> dict[str, RunConfig]:
        return {run.record.hash: run.config for run in self.finished}

    @cached_property
    def folders(self) -> dict[str, Path]:
        return {run.record.hash: run.folder for run in self.finished}

    def metrics(self, run_hash: str) -> list[dict[str, Any]]:
        """What a run measured while it trained; empty, and a problem noted, if that cannot be read."""
        try:
            return read_metrics(self.folders[run_hash])
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            self.note(error)
            return []

    def trace(self, run_hash: str) -> dict[str, Any] | None:
        """What a run looked at on one string; None if it was not kept, or, a problem noted, cannot be read."""
        path = self.folders[run_hash] / TRACE
        try:
            return checked_trace(path, read_json(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self.note(error)
            return None

    def note(self, error: Exception | str) -> None:
        line = " ".join(str(error).split())
        if line not in self.problems:
            self.problems.append(line)


def find_runs(folders: Sequence[Path]) -> Runs:
    """Every run in the folders, at any depth to three; the same run found twice counts once."""
    found = Runs()
    seen: set[str] = set()
    for top in folders:
        if not top.is_dir():
            raise ValueError(f"{top} is no folder" if top.exists() else f"there is no folder {top}")
        for folder in _run_folders(top, DEEPEST):
            try:
                run = _read(folder, found)
            except (BadFileError, OSError) as error:
                found.note(error)
                continue
            if run is not None and run.record.hash not in seen:
                seen.add(run.record.hash)
                found.finished.append(run)
    found.finished.sort(key=_order)
    return found


def checked_trace(path: Path, trace: dict[str, Any]) -> dict[str, Any]:
    """The trace, if its parts fit each other."""
    try:
        whole = _fits(trace)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadFileError(f"{path} is no trace: {type(error).__name__} {error}") from None
    if not whole:
        raise BadFileError(f"{path} is no trace: its parts do not fit the string {trace['text']!r}")
    return trace


def _fits(trace: dict[str, Any]) -> bool:
    text, prompt, needs = trace["text"], trace["prompt"], trace["needs"]
    answers = len(text) - prompt
    views = [trace["attention"], *([trace["terms"]] if trace.get("terms") else [])]
    anchors = [anchor["weights"] for anchor in trace.get("anchors") or []]
    heads = [head for view in views for layer in view for head in layer]
    return (
        0 < prompt < len(text)
        and isinstance(trace["output"], str)
        and len(needs) == answers
        and all(index is None or 0 <= index < len(text) for needed in needs for index in needed.values())
        and all(len(view) > 0 and all(len(layer) > 0 for layer in view) for view in views)
        and all(len(head) == answers and _rows(head, len(text)) for head in heads)
        and all(len(heads) > 0 for heads in anchors)
        and all(0 < len(head) <= len(text) and _rows(head, len(text)) for heads in anchors for head in heads)
    )


def _rows(head: list[list[float]], width: int) -> bool:
    return all(0 < len(row) <= width and all(isinstance(value, int | float) for value in row) for row in head)


def _run_folders(folder: Path, depth: int) -> list[Path]:
    """The folder itself if it holds a run, else those below it."""
    if any((folder / name).exists() for name in ("config.json", "record.json", FAILURE)):
        return [folder]
    if depth == 0:
        return []
    below = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [found for path in below for found in _run_folders(path, depth - 1)]


def _order(run: Run) -> tuple[Any, ...]:
    """Our own tasks and embeddings in their order, users' after them by name."""
    tasks, positions, config = list(TASKS), list(POSITIONS), run.config
    task = (tasks.index(config.task) if config.task in tasks else len(tasks), config.task)
    position = (positions.index(config.position) if config.position in positions else len(positions), config.position)
    return (*task, *position, kind(config), config.seed)


def _read(folder: Path, found: Runs) -> Run | None:
    """A finished run; one that is not is put where it belongs."""
    _check_format(folder / "config.json")
    if (folder / "record.json").exists():
        config, record = read_config(folder), read_record(folder)
        if record.hash != config.hash:
            raise BadFileError(f"{folder} holds the record of {record.hash} beside the config of {config.hash}")
        return Run(folder, config, record)
    if (folder / FAILURE).exists():
        failure = read_json(folder / FAILURE)
        found.failed[folder] = f"{failure.get('label', folder.name)}: {failure.get('message', 'no reason given')}"
    elif "format_version" in read_json(folder / "config.json"):  # other things have a config.json too
        found.unfinished.append(folder)
    return None


def _check_format(path: Path) -> None:
    """BadFileError, with both versions, for a run of another format."""
    try:
        version = json.loads(path.read_bytes())["format_version"]
    except FileNotFoundError:
        if (path.parent / "record.json").exists():
            raise BadFileError(f"{path.parent} holds a record without config.json") from None
        return
    except (ValueError, KeyError, TypeError, RecursionError):
        return  # what is wrong with it is said when it is read as a whole
    if version != FORMAT_VERSION:
        age = "newer" if isinstance(version, int) and version > FORMAT_VERSION else "other"
        raise BadFileError(
            f"{path.parent} is of the {age} format {version}; this version of ldhd reads format {FORMAT_VERSION}"
        )
