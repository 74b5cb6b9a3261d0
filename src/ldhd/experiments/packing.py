"""Conversion between run folders and packed studies."""

import contextlib
import json
import lzma
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldhd.experiments.folder import RunFolder
from ldhd.experiments.studies import PackedRun, Study
from ldhd.files import BadFileError, load_json, sealed, write_bytes, write_json, write_value
from ldhd.lease import HeldError, holding

Lines = dict[str, dict[str, Any]]
"""Hash of a run -> what a file of the packed study holds of it."""


@dataclass(frozen=True)
class Conversion:
    """What `pack` or `unpack` has done."""

    study: Path
    runs: list[str]
    """Hashes of the runs that were converted."""
    left: dict[str, str] = field(default_factory=dict)
    """Folders that were left as they are, and why."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Kinds of files that were not kept, and of how many runs."""

    def document(self) -> dict[str, Any]:
        return {"study": str(self.study), "runs": self.runs, "left": self.left, "dropped": self.dropped}

    def view(self) -> Iterator[str]:
        yield f"{len(self.runs)} runs: {self.study}"
        for name, count in self.dropped.items():
            yield f"dropped: {name} of {count} runs"
        for name, reason in self.left.items():
            yield f"left as it is: {name}: {reason}"


def pack(path: Path) -> Conversion:
    """Pack the finished runs of a folder into `runs.jsonl` and the compressed files beside it.

    Runs that are packed already stay in the file. Unfinished or damaged runs, and those another process works on, are
    left as they are. Run folders, with their weights and checkpoints, are removed only after the packed study has been
    read back and agrees with them.
    """
    folders, left = _finished_folders(path)
    if not folders:
        reasons = "".join(f"; {name}: {reason}" for name, reason in left.items())
        raise ValueError(f"{path} holds no folder of a finished run{reasons}")
    study = Study(path)
    runs: Lines = {run.hash: run.line() for run in study.packed if run.hash is not None}
    if len(runs) < len(study.packed):
        raise BadFileError(f"{study.runs_path} is damaged; nothing was packed")
    metrics, traces = dict(study.packed_metrics), dict(study.packed_traces)
    for folder in folders:
        name = folder.path.name
        runs[name] = {"config": load_json(folder.config_path), "record": load_json(folder.record_path)}
        metrics[name] = sealed({"hash": name, "rows": folder.metrics()})
        if folder.trace_path.exists():
            traces[name] = {"hash": name, "trace": load_json(folder.trace_path)}
    _write_lines(study.runs_path, runs, lambda content: content)
    _write_lines(study.metrics_path, metrics, lzma.compress)
    _write_lines(study.traces_path, traces, lzma.compress)
    written = Study(path)
    for folder in folders:
        _check_agrees(folder, written)
    dropped = _dropped(folders)
    packed = [folder.path.name for folder in folders if _remove(folder, left)]
    return Conversion(study.runs_path, packed, left, dropped)


def unpack(path: Path, out: Path | None = None) -> Conversion:
    """Write the runs of a packed study as folders in `out`.

    Without `out` they are written beside the packed files, which are then removed.
    """
    study = Study(path)
    if not study.packed:
        raise ValueError(f"{path} holds no packed study: there is no {study.runs_path.name} with runs in it")
    for run in study.packed:
        _unpack_run(run, RunFolder((out or path) / run.record().hash))
    if out is None:
        for file in (study.runs_path, study.metrics_path, study.traces_path):
            file.unlink(missing_ok=True)
    return Conversion(out or path, [run.record().hash for run in study.packed])


def _unpack_run(run: PackedRun, folder: RunFolder) -> None:
    """Write the folder of a packed run; BadFileError unless it is then finished with the same record."""
    with holding(folder.path):
        write_value(folder.config_path, run.line()["config"])
        folder.write_metrics(run.metrics())
        with contextlib.suppress(FileNotFoundError):  # not every trace is kept
            write_json(folder.trace_path, run.trace())
        write_value(folder.record_path, run.line()["record"])
        if folder.finished(run.config()) != run.record():
            raise BadFileError(f"{folder.path} does not agree with {run.source}; the packed study is kept")


def _finished_folders(path: Path) -> tuple[list[RunFolder], dict[str, str]]:
    """Return the folders of finished runs directly below a folder, and why others are left out."""
    if not path.is_dir():
        raise ValueError(f"{path}: there is no such folder")
    found, left = [], {}
    for folder in map(RunFolder, sorted(path.iterdir())):
        if not folder.path.is_dir() or not folder.exists:
            continue
        try:
            config = folder.config()
        except (FileNotFoundError, BadFileError) as error:
            left[folder.path.name] = str(error)
            continue
        if folder.path.name != config.hash or folder.finished(config) is None:
            left[folder.path.name] = "it is not finished, or damaged"
        else:
            found.append(folder)
    return found, left


def _check_agrees(folder: RunFolder, study: Study) -> None:
    """Raise BadFileError unless the packed study, as read back, holds what the folder does."""
    run = study.packed_run(folder.path.name)
    agrees = (
        run is not None
        and run.line() == {"config": load_json(folder.config_path), "record": load_json(folder.record_path)}
        and run.finished(folder.config()) == folder.record()
        and run.metrics() == folder.metrics()
        and (not folder.trace_path.exists() or run.trace() == folder.trace())
    )
    if not agrees:
        raise BadFileError(f"{study.runs_path} does not agree with {folder.path}; no folder was removed")


def _remove(folder: RunFolder, left: dict[str, str]) -> bool:
    """Remove the folder of a packed run unless another process works on it."""
    try:
        with holding(folder.path, wait=False):
            shutil.rmtree(folder.path)
    except HeldError as error:
        left[folder.path.name] = str(error)
        return False
    return True


def _dropped(folders: Sequence[RunFolder]) -> dict[str, int]:
    weights = sum(folder.weights_path.exists() for folder in folders)
    checkpoints = sum(folder.checkpoints.exists() for folder in folders)
    return {name: count for name, count in (("weights", weights), ("checkpoints", checkpoints)) if count}


def _write_lines(path: Path, lines: Mapping[str, Any], encode: Callable[[bytes], bytes]) -> None:
    """Write a line for each run, sorted by hash; no file if there are none."""
    if lines:
        text = "".join(json.dumps(lines[name], separators=(",", ":")) + "\n" for name in sorted(lines))
        write_bytes(path, encode(text.encode()))
