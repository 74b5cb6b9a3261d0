"""Conversion between run folders and packed studies."""

import contextlib
import json
import lzma
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ldhd.experiments.folder import RunFolder
from ldhd.experiments.studies import Study
from ldhd.files import BadFileError, load_json, sealed, write_bytes, write_json, write_value
from ldhd.lease import HeldError, holding


def pack(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Pack the finished runs of a folder into `runs.jsonl` and the compressed files beside it.

    Runs that are packed already stay in the file. Unfinished or damaged runs, and those another process works on, are
    left as they are. Run folders, with their weights and checkpoints, are removed only after the packed study has been
    read back and agrees with them. Returns what was done, as a document and as lines of text.
    """
    folders, left = _finished_folders(path)
    if not folders:
        reasons = "".join(f"; {name}: {reason}" for name, reason in left.items())
        raise ValueError(f"{path} holds no folder of a finished run{reasons}")
    study = Study(path)
    runs = {name: run.line for name, run in study.packed_by_hash.items()}
    if len(runs) < len(study.packed):
        raise BadFileError(f"{study.runs_path} is damaged; nothing was packed")
    beside = (study.metrics_path, study.traces_path, study.certificates_path)
    metrics, traces, certificates = (study.compressed_lines(file) for file in beside)
    for folder in folders:
        name = folder.path.name
        runs[name] = _line(folder)
        metrics[name] = sealed({"hash": name, "rows": folder.metrics()})
        if folder.trace_path.exists():
            traces[name] = {"hash": name, "trace": load_json(folder.trace_path)}
        if folder.certificate_path.exists():
            certificates[name] = {"hash": name, "certificate": load_json(folder.certificate_path)}
    _write_lines(study.runs_path, runs, lambda content: content)
    _write_lines(study.metrics_path, metrics, lzma.compress)
    _write_lines(study.traces_path, traces, lzma.compress)
    _write_lines(study.certificates_path, certificates, lzma.compress)
    written = Study(path)
    for folder in folders:
        _check_agrees(folder, written)
    kinds = {"weights": [f.weights_path for f in folders], "checkpoints": [f.checkpoints for f in folders]}
    counts = {kind: sum(path.exists() for path in paths) for kind, paths in kinds.items()}
    packed = []
    for folder in folders:
        try:
            with holding(folder.path, wait=False):
                shutil.rmtree(folder.path)
            packed.append(folder.path.name)
        except (HeldError, OSError) as error:
            left[folder.path.name] = str(error)
    dropped = {kind: count for kind, count in counts.items() if count}
    lines = [f"{len(packed)} runs: {study.runs_path}"]
    lines += [f"dropped: {kind} of {count} runs" for kind, count in dropped.items()]
    lines += [f"left as it is: {name}: {reason}" for name, reason in left.items()]
    return {"study": str(study.runs_path), "runs": packed, "left": left, "dropped": dropped}, lines


def unpack(path: Path, out: Path | None = None) -> tuple[dict[str, Any], list[str]]:
    """Write the runs of a packed study as folders in `out`, by default in place of it; returns what `pack` does."""
    study = Study(path)
    if not study.packed:
        raise ValueError(f"{path} holds no packed study: there is no {study.runs_path.name} with runs in it")
    names = [run.record().hash for run in study.packed]
    for name, run in zip(names, study.packed, strict=True):
        folder = RunFolder((out or path) / name)
        with holding(folder.path) as lease:
            folder = RunFolder(folder.path, lease.check)
            write_value(folder.config_path, run.line["config"], lease.check)
            folder.write_metrics(run.metrics())
            with contextlib.suppress(FileNotFoundError):  # not every trace is kept
                write_json(folder.trace_path, run.trace(), lease.check)
            with contextlib.suppress(FileNotFoundError):  # few runs have a certificate
                write_value(folder.certificate_path, run.stored_certificate(), lease.check)
            write_value(folder.record_path, run.line["record"], lease.check)
            if folder.finished(run.config()) != run.record():
                raise BadFileError(f"{folder.path} does not agree with {run.source}; the packed study is kept")
    if out is None:
        for file in (study.runs_path, study.metrics_path, study.traces_path, study.certificates_path):
            file.unlink(missing_ok=True)
    document = {"study": str(out or path), "runs": names, "left": {}, "dropped": {}}
    return document, [f"{len(names)} runs: {out or path}"]


def _finished_folders(path: Path) -> tuple[list[RunFolder], dict[str, str]]:
    """Return the folders of finished runs directly below a folder, and why others are left out."""
    if not path.is_dir():
        raise ValueError(f"{path}: there is no such folder")
    found, left = [], {}
    for folder in map(RunFolder, sorted(path.iterdir())):
        if not folder.path.is_dir() or not folder.exists:
            continue
        try:
            folder.check_no_links()
            config = folder.config()
        except (FileNotFoundError, BadFileError) as error:
            left[folder.path.name] = str(error)
            continue
        if folder.path.name != config.hash or folder.finished(config) is None:
            left[folder.path.name] = "it is not finished, or damaged"
        else:
            found.append(folder)
    return found, left


def _line(folder: RunFolder) -> dict[str, Any]:
    """Return the line of a run in `runs.jsonl`."""
    return {"config": load_json(folder.config_path), "record": load_json(folder.record_path)}


def _check_agrees(folder: RunFolder, study: Study) -> None:
    """Raise BadFileError unless the packed study, as read back, holds what the folder does."""
    run = study.packed_by_hash.get(folder.path.name)
    agrees = (
        run is not None
        and run.line == _line(folder)
        and run.finished(folder.config()) == folder.record()
        and run.metrics() == folder.metrics()
        and (not folder.trace_path.exists() or run.trace() == folder.trace())
        and (not folder.certificate_path.exists() or run.certificate() == folder.certificate())
    )
    if not agrees:
        raise BadFileError(f"{study.runs_path} does not agree with {folder.path}; no folder was removed")


def _write_lines(path: Path, lines: Mapping[str, Any], encode: Callable[[bytes], bytes]) -> None:
    """Write a line for each run, sorted by hash; no file if there are none."""
    if lines:
        text = "".join(json.dumps(lines[name], separators=(",", ":")) + "\n" for name in sorted(lines))
        write_bytes(path, encode(text.encode()))
