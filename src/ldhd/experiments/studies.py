"""Stored runs, as folders or packed: the runs of a folder tree, and which runs of a study are finished.

A study is a folder of runs. Each run is a folder named by its hash, or one line of the file `runs.jsonl`, with its
learning curve, its trace and its certificate compressed beside it.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ldhd.certify import Certificate
from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import Record, RunFolder, check_agreement, parse_certificate, parse_stored
from ldhd.experiments.packaged import run_path
from ldhd.experiments.trace import TraceDocument
from ldhd.files import BadFileError, parse_object, stored_lines, unsealed
from ldhd.train.metrics import Metrics, check_metrics

LARGEST_DEPTH = 3
"""Runs are searched for at most this many folders below the one that is named."""
HASH_FIRST = re.compile(rb'\{"hash": ?"(\w+)"')
"""How a line of a compressed file begins, so that only the lines that are asked for are parsed."""

OnProblem = Callable[[Exception], None]
"""Called with what is wrong with one run; the others are read on."""


def warn_of(problem: Exception) -> None:
    """Warn of a run that cannot be read."""
    warnings.warn(str(problem), stacklevel=3)


class Study:
    """A folder of runs; `on_problem` is called once for each file of a packed study that cannot be read to its end."""

    def __init__(self, path: Path, on_problem: OnProblem = warn_of):
        self.path = path
        self.on_problem = on_problem
        self.runs_path = path / "runs.jsonl"
        self.metrics_path = path / "metrics.jsonl.xz"
        self.traces_path = path / "traces.jsonl.xz"
        self.certificates_path = path / "certificates.jsonl.xz"
        self._compressed: dict[Path, dict[str, bytes]] = {}

    def folder(self, config: RunConfig) -> RunFolder:
        """Return the folder of a run, whether or not it exists."""
        return RunFolder(self.path / config.hash)

    def finished(self, config: RunConfig) -> Record | None:
        """Return the record of a finished run, from its folder or the packed file; None if there is none."""
        packed = self.packed_by_hash.get(config.hash)
        return self.folder(config).finished(config) or (packed.finished(config) if packed else None)

    @cached_property
    def packed(self) -> "list[PackedRun]":
        """The runs of `runs.jsonl`, none if there is no such file."""
        found: list[PackedRun] = []
        try:
            for number, line in enumerate(stored_lines(self.runs_path), start=1):
                found.append(PackedRun(self, number, line))
        except (FileNotFoundError, NotADirectoryError):
            pass
        except BadFileError as error:
            self.on_problem(error)
        return found

    @cached_property
    def packed_by_hash(self) -> "dict[str, PackedRun]":
        """The packed runs whose lines are not damaged."""
        return {run.hash: run for run in self.packed if run.hash is not None}

    def compressed_line(self, path: Path, run_hash: str) -> dict[str, Any]:
        """Return the line of a run in a compressed file; FileNotFoundError if it has none."""
        if path not in self._compressed:
            lines = self._compressed[path] = {}
            try:
                lines.update(_by_hash(path))
            except BadFileError as error:
                self.on_problem(error)
        try:
            content = self._compressed[path][run_hash]
        except KeyError:
            raise FileNotFoundError(f"{path} holds nothing of run {run_hash}") from None
        line = parse_object(content, f"{path}, {run_hash},")
        if line.get("hash") != run_hash:
            raise BadFileError(f"{path} holds a line of run {run_hash} that names another")
        return line

    def compressed_lines(self, path: Path) -> dict[str, dict[str, Any]]:
        """Return all lines of a compressed file by the runs that they are of; an absent file has none."""
        return {name: parse_object(content, f"{path}, {name},") for name, content in _by_hash(path)}


class PackedRun:
    """A finished run in a line of `runs.jsonl`."""

    def __init__(self, study: Study, number: int, content: bytes):
        self.study = study
        self.path = study.runs_path
        self.trace_path = study.traces_path
        self.number = number
        self.content = content

    @property
    def source(self) -> str:
        return f"{self.path} line {self.number}"

    is_finished = True

    @property
    def line(self) -> dict[str, dict[str, Any]]:
        """The config and the record as stored, with their digests."""
        line = parse_object(self.content, self.source)
        for name in ("config", "record"):
            if not isinstance(line.get(name), dict):
                raise BadFileError(f"{self.source} holds no {name}")
        return line

    @property
    def hash(self) -> str | None:
        """The hash that the record states, None if the line is damaged."""
        try:
            return str(self.line["record"]["hash"])
        except (BadFileError, KeyError):
            return None

    def config(self) -> RunConfig:
        return parse_stored(RunConfig, self.line["config"], self.source)

    def record(self) -> Record:
        return parse_stored(Record, self.line["record"], self.source)

    def finished_pair(self) -> tuple[RunConfig, Record]:
        """Return the config and the record, which agree."""
        line = self.line
        config = parse_stored(RunConfig, line["config"], self.source)
        record = parse_stored(Record, line["record"], self.source)
        check_agreement(record, config, self.source)
        return config, record

    def metrics(self) -> Metrics:
        path = self.study.metrics_path
        source = f"{path}, {self.hash},"
        rows = unsealed(self.study.compressed_line(path, str(self.hash)), source).get("rows")
        if not isinstance(rows, list):
            raise BadFileError(f"{source} holds no rows")
        check_metrics(rows, source)
        return rows

    def trace(self) -> dict[str, Any]:
        source = f"{self.trace_path}, {self.hash},"
        trace = self.study.compressed_line(self.trace_path, str(self.hash)).get("trace")
        if not isinstance(trace, dict):
            raise BadFileError(f"{source} holds no trace")
        found = unsealed(trace, source)
        TraceDocument.check(found, source)
        return found

    def certificate(self) -> Certificate:
        """Return what `ldhd certify` found about this run before its weights were dropped."""
        path = self.study.certificates_path
        return parse_certificate(self.stored_certificate(), str(self.hash), f"{path}, {self.hash},")

    def stored_certificate(self) -> dict[str, Any]:
        """Return the certificate as stored, with its digest."""
        path = self.study.certificates_path
        stored = self.study.compressed_line(path, str(self.hash)).get("certificate")
        if not isinstance(stored, dict):
            raise BadFileError(f"{path}, {self.hash}, holds no certificate")
        return stored

    def finished(self, config: RunConfig) -> Record | None:
        """Return the record if it is that of `config`, or None if the line is of another run or damaged."""
        try:
            record, stored = self.record(), unsealed(self.line["config"], self.source)
            check_agreement(record, config, self.source)
        except BadFileError:
            return None
        return record if stored == config.model_dump(mode="json") else None


StoredRun = RunFolder | PackedRun
"""A run on disk; its `metrics`, `trace` and `certificate` raise FileNotFoundError if they were not kept."""


class FinishedRun(NamedTuple):
    """A finished run; its learning curve and its trace are read from where it is stored when they are asked for."""

    config: RunConfig
    record: Record
    stored: StoredRun


def read_runs(path: Path, on_problem: OnProblem = warn_of) -> Iterator[FinishedRun]:
    """Yield every finished run in a folder tree, run folders and packed studies alike; each once.

    A run that cannot be read is left out, and `on_problem` is called.
    """
    if not path.is_dir():
        raise ValueError(f"{path}: there is no such folder")
    seen: set[str] = set()
    for stored in find_stored(path, on_problem):
        if not stored.is_finished:
            continue
        try:
            run = read_run(stored)
        except (BadFileError, OSError) as error:
            on_problem(error)
            continue
        if run.record.hash not in seen:
            seen.add(run.record.hash)
            yield run


def find_stored(path: Path, on_problem: OnProblem = warn_of, depth: int = LARGEST_DEPTH) -> Iterator[StoredRun]:
    """Yield every run in a folder tree, finished or not, at most `depth` folders down, sorted by path."""
    folder = RunFolder(path)
    if folder.exists:
        yield folder
        return
    yield from Study(path, on_problem).packed
    if depth > 0:
        try:
            below = sorted(Path(entry) for entry in os.scandir(path) if entry.is_dir() and entry.name[0] != ".")
        except OSError as error:
            on_problem(error)
            return
        for child in below:
            yield from find_stored(child, on_problem, depth - 1)


def find_finished(path: Path) -> FinishedRun:
    """Return the run in a folder, or the run HASH of a packed study for `STUDY/HASH`; ValueError if it is not finished.

    A task's name stands for the trained model that comes with the package.
    """
    folder = RunFolder(run_path(path))
    if folder.is_finished:
        return read_run(folder)
    if folder.exists:
        raise ValueError(f"the run at {path} is not finished")
    packed = Study(path.parent).packed_by_hash.get(path.name)
    if packed is None:
        raise ValueError(f"no run at {path}: it is neither the folder of a run nor a run of a packed study")
    return read_run(packed)


def read_run(stored: StoredRun) -> FinishedRun:
    """Read a finished run; BadFileError if its config is absent, or its record not that of the config."""
    return FinishedRun(*stored.finished_pair(), stored)


def _by_hash(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a compressed file with the runs that they are of; an absent file has none."""
    try:
        for number, line in enumerate(stored_lines(path), start=1):
            first = HASH_FIRST.match(line)
            name = first[1].decode() if first else parse_object(line, f"{path} line {number}").get("hash")
            yield str(name), line
    except (FileNotFoundError, NotADirectoryError):
        return
