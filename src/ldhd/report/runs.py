"""The runs in some folders: the finished, the failed, the unfinished, and files that cannot be read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ldhd.certify import Certificate
from ldhd.experiments import RunConfig, RunFolder
from ldhd.experiments.groups import setting
from ldhd.experiments.packaged import MODELS_PATH, packaged
from ldhd.experiments.preset import SIX
from ldhd.experiments.studies import FinishedRun, find_stored, read_run
from ldhd.files import BadFileError, read_json
from ldhd.positions import POSITIONS
from ldhd.process import one_line, without_collection
from ldhd.tasks import TASKS


@dataclass
class Runs:
    """The runs of some folders."""

    finished: list[FinishedRun] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """The folder of each failed run, what it was, and why it failed."""
    unfinished: list[Path] = field(default_factory=list)
    noted: dict[str, None] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """A line for each file that could not be read, in the order in which they were met."""
        return list(self.noted)

    @cached_property
    def by_hash(self) -> dict[str, FinishedRun]:
        return {run.record.hash: run for run in self.finished}

    def metrics(self, run_hash: str) -> list[dict[str, Any]]:
        """Return the learning curve of a run; empty if it was not kept, or, with a problem noted, cannot be read."""
        return self._read(lambda: _agreeing_metrics(self.by_hash[run_hash])) or []

    def certificate(self, run_hash: str) -> Certificate | None:
        """Return what `ldhd certify` found about a run, beside it or in the package; None if nothing readable is."""
        own = self._read(self.by_hash[run_hash].stored.certificate)
        return own or self._packaged.get(run_hash)

    @cached_property
    def _packaged(self) -> dict[str, Certificate]:
        """The certificates of the trained models that come with the package, by the hashes of their runs."""
        folders = [RunFolder(MODELS_PATH / name) for name in packaged()]
        return {folder.config().hash: folder.certificate() for folder in folders if folder.certificate_path.exists()}

    def trace(self, run_hash: str) -> dict[str, Any] | None:
        """Return the trace of a run; None if it was not kept, or, with a problem noted, cannot be read."""
        return self._read(lambda: _agreeing_trace(self.by_hash[run_hash]))

    def _read(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (OSError, ValueError) as error:
            if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
                self.note(error)
            return None

    def note(self, error: Exception) -> None:
        """Add an error to the problems, in one line, unless it is there already."""
        self.noted.setdefault(one_line(str(error)))


def find_runs(folders: Sequence[Path]) -> Runs:
    """Find every run in folders, at most three folders down; a run that is found twice counts once."""
    found, finished, known = Runs(), dict[str, FinishedRun](), dict[str, RunConfig]()
    for top in folders:
        if not top.is_dir():
            raise ValueError(f"{top} is no folder" if top.exists() else f"there is no folder {top}")
    with without_collection():  # what is read stays, and there may be millions of objects
        for stored in (stored for top in folders for stored in find_stored(top, found.note)):
            try:
                if stored.is_finished:
                    run = read_run(stored)
                    finished.setdefault(run.record.hash, run._replace(config=_shared(run.config, known)))
                elif isinstance(stored, RunFolder):
                    _note_unfinished(stored, found)
            except (BadFileError, OSError) as error:
                found.note(error)
        found.finished = sorted(finished.values(), key=_order)
    return found


def _shared(config: RunConfig, known: dict[str, RunConfig]) -> RunConfig:
    """Return a config that shares its parts with one that differs in the seed alone, to save memory."""
    first = known.setdefault(setting(config), config)
    own = {"seed": config.seed, "extended_from": config.extended_from}
    return config if first is config else first.model_copy(update=own)


def _note_unfinished(folder: RunFolder, found: Runs) -> None:
    """Note a run that has failed, or is not finished; a config.json of something else is neither."""
    if folder.failure_path.exists():
        failure = folder.failure()
        found.failed.append(one_line(f"{folder.path}: {failure.label}: {failure.message}"))
    elif "format_version" in read_json(folder.config_path):
        folder.config()
        found.unfinished.append(folder.path)


def _agreeing_metrics(run: FinishedRun) -> list[dict[str, Any]]:
    rows = run.stored.metrics()
    if rows and rows[-1]["step"] != run.record.steps:
        last = rows[-1]["step"]
        raise BadFileError(f"{run.stored.path}: the learning curve ends at step {last}, not at {run.record.steps}")
    return rows


def _agreeing_trace(run: FinishedRun) -> dict[str, Any]:
    trace = run.stored.trace()
    if run.config.model_options.architecture != "transformer":
        raise FileNotFoundError(f"{run.stored.trace_path}: the model of run {run.record.hash} has no attention")
    if trace.get("scale", run.config.test_scales[0]) not in run.config.test_scales:
        raise BadFileError(f"{run.stored.trace_path} is of scale {trace['scale']}, which was not tested")
    return trace


def _order(run: FinishedRun) -> tuple[Any, ...]:
    """Sort by task and embedding."""
    task, position = run.config.task, run.config.position
    return *_rank(task, [*TASKS]), *position_order(position), setting(run.config), run.config.seed


def position_order(position: str) -> tuple[int, str]:
    """What embeddings are sorted by: those of the paper's comparisons first, then our own, then users' by name."""
    return _rank(position, [*SIX, *POSITIONS])


def _rank(name: str, known: Sequence[str]) -> tuple[int, str]:
    return (known.index(name) if name in known else len(known)), name
