"""The runs in some folders: the finished, the failed, the unfinished, and files that cannot be read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ldhd.experiments import RunFolder
from ldhd.experiments.groups import setting
from ldhd.experiments.preset import SIX
from ldhd.experiments.studies import FinishedRun, StoredRun, find_stored, read_run
from ldhd.files import BadFileError, read_json
from ldhd.positions import POSITIONS
from ldhd.tasks import TASKS

Content = TypeVar("Content")


@dataclass
class Runs:
    """The runs of some folders; `problems` has a line for each file that could not be read."""

    finished: list[FinishedRun] = field(default_factory=list)
    failed: dict[Path, str] = field(default_factory=dict)
    unfinished: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @cached_property
    def by_hash(self) -> dict[str, FinishedRun]:
        return {run.record.hash: run for run in self.finished}

    def metrics(self, run_hash: str) -> list[dict[str, Any]]:
        """Return the learning curve of a run; empty if it was not kept, or, with a problem noted, cannot be read."""
        return self._read(self.by_hash[run_hash].stored.metrics) or []

    def trace(self, run_hash: str) -> dict[str, Any] | None:
        """Return the trace of a run; None if it was not kept, or, with a problem noted, cannot be read."""
        stored = self.by_hash[run_hash].stored
        return self._read(lambda: checked_trace(stored.trace_path, stored.trace()))

    def _read(self, read: Callable[[], Content]) -> Content | None:
        try:
            return read()
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self.note(error)
            return None

    def note(self, error: Exception) -> None:
        """Add an error to the problems, in one line, unless it is there already."""
        line = " ".join(str(error).split())
        if line not in self.problems:
            self.problems.append(line)


def find_runs(folders: Sequence[Path]) -> Runs:
    """Find every run in folders, at most three folders down; a run that is found twice counts once."""
    found, finished = Runs(), dict[str, FinishedRun]()
    for top in folders:
        if not top.is_dir():
            raise ValueError(f"{top} is no folder" if top.exists() else f"there is no folder {top}")
        for stored in find_stored(top):
            try:
                run = _read(stored, found)
            except (BadFileError, OSError) as error:
                found.note(error)
                continue
            if run is not None:
                finished.setdefault(run.record.hash, run)
    found.finished = sorted(finished.values(), key=_order)
    return found


def checked_trace(path: Path, trace: dict[str, Any]) -> dict[str, Any]:
    """Return the trace if its parts fit each other, else raise BadFileError."""
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


def _order(run: FinishedRun) -> tuple[Any, ...]:
    """Sort by task and embedding: those of the paper's comparisons first, then our own, then users' by name."""
    tasks, positions, config = list(TASKS), [*SIX, *POSITIONS], run.config
    task = (tasks.index(config.task) if config.task in tasks else len(tasks), config.task)
    position = (positions.index(config.position) if config.position in positions else len(positions), config.position)
    return (*task, *position, setting(config), config.seed)


def _read(stored: StoredRun, found: Runs) -> FinishedRun | None:
    """Read a finished run; add one that has failed or is unfinished to what was found."""
    if not isinstance(stored, RunFolder) or stored.record_path.exists():
        return read_run(stored)
    if stored.failure_path.exists():
        failure = read_json(stored.failure_path)
        reason = f"{failure.get('label', stored.path.name)}: {failure.get('message', 'no reason given')}"
        found.failed[stored.path] = reason
    elif "format_version" in read_json(stored.config_path):  # other things have a config.json too
        stored.config()
        found.unfinished.append(stored.path)
    return None
