"""The runs in some folders: the finished, the failed, the unfinished, and files that cannot be read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ldhd.experiments import RunFolder
from ldhd.experiments.groups import setting
from ldhd.experiments.preset import SIX
from ldhd.experiments.studies import FinishedRun, find_stored, read_run
from ldhd.files import BadFileError, read_json
from ldhd.positions import POSITIONS
from ldhd.tasks import TASKS


@dataclass
class Runs:
    """The runs of some folders; `problems` has a line for each file that could not be read."""

    finished: list[FinishedRun] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """The folder of each failed run, what it was, and why it failed."""
    unfinished: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @cached_property
    def by_hash(self) -> dict[str, FinishedRun]:
        return {run.record.hash: run for run in self.finished}

    def metrics(self, run_hash: str) -> list[dict[str, Any]]:
        """Return the learning curve of a run; empty if it was not kept, or, with a problem noted, cannot be read."""
        return self._read(self.by_hash[run_hash].stored.metrics) or []

    def certificate(self, run_hash: str) -> str:
        """Return in one sentence what `ldhd certify` found about a run; empty if nothing readable is stored."""
        stored = self.by_hash[run_hash].stored
        found = self._read(stored.certificate) if isinstance(stored, RunFolder) else None
        return "" if found is None else found.sentence()

    def trace(self, run_hash: str) -> dict[str, Any] | None:
        """Return the trace of a run; None if it was not kept, or, with a problem noted, cannot be read."""
        return self._read(lambda: _checked_trace(self.by_hash[run_hash]))

    def _read(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError):
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
                if not isinstance(stored, RunFolder) or stored.record_path.exists():
                    run = read_run(stored)
                    finished.setdefault(run.record.hash, run)
                elif stored.failure_path.exists():
                    failure = {"label": stored.path.name, "message": "no reason given"} | read_json(stored.failure_path)
                    found.failed.append(f"{stored.path}: {failure['label']}: {failure['message']}")
                elif "format_version" in read_json(stored.config_path):  # other things have a config.json too
                    stored.config()
                    found.unfinished.append(stored.path)
            except (BadFileError, OSError) as error:
                found.note(error)
    found.finished = sorted(finished.values(), key=_order)
    return found


def _checked_trace(run: FinishedRun) -> dict[str, Any]:
    """Return the trace of a run if its parts fit each other, else raise BadFileError."""
    trace, name = run.stored.trace(), f"{run.stored.trace_path} is no trace"
    if run.config.model_options.architecture != "transformer":
        raise FileNotFoundError(f"{name}: the model of run {run.record.hash} has no attention")
    try:
        if _fits(trace):
            return trace
    except (KeyError, TypeError, AttributeError) as error:
        raise BadFileError(f"{name}: {type(error).__name__} {error}") from None
    raise BadFileError(f"{name}: its parts do not fit the string {trace['text']!r}")


def _fits(trace: dict[str, Any]) -> bool:
    text, prompt, needs = trace["text"], trace["prompt"], trace["needs"]
    answers = len(text) - prompt
    views = [trace["attention"], *([trace["terms"]] if trace.get("terms") else [])]
    anchors = [anchor["weights"] for anchor in trace.get("anchors") or []]
    layers = [layer for view in views for layer in view]
    heads = [head for layer in layers for head in layer]
    anchor_heads = [head for layer in anchors for head in layer]
    rows = [row for head in heads + anchor_heads for row in head]
    return (
        0 < prompt < len(text)
        and isinstance(trace["output"], str)
        and len(needs) == answers
        and all(index is None or 0 <= index < len(text) for needed in needs for index in needed.values())
        and all(len(part) > 0 for part in views + layers + anchors)
        and all(len(head) == answers for head in heads)
        and all(0 < len(head) <= len(text) for head in anchor_heads)
        and all(0 < len(row) <= len(text) and all(isinstance(value, int | float) for value in row) for row in rows)
    )


def _order(run: FinishedRun) -> tuple[Any, ...]:
    """Sort by task and embedding: those of the paper's comparisons first, then our own, then users' by name."""
    task, position = run.config.task, run.config.position
    return *_rank(task, [*TASKS]), *_rank(position, [*SIX, *POSITIONS]), setting(run.config), run.config.seed


def _rank(name: str, known: Sequence[str]) -> tuple[int, str]:
    return (known.index(name) if name in known else len(known)), name
