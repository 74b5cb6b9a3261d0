"""Stored runs, as folders or packed: the runs of a folder tree, and which runs of a study are finished.

A study is a folder of runs. Each run is a folder named by its hash, or one line of the file `runs.jsonl`, with its
learning curve and its trace compressed beside it.
"""

import lzma
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import Metrics, Record, RunFolder, parse_stored
from ldhd.files import BadFileError, parse_object, unsealed

LARGEST_DEPTH = 3
"""Runs are searched for at most this many folders below the one that is named."""


class Study:
    """A folder of runs."""

    def __init__(self, path: Path):
        self.path = path
        self.runs_path = path / "runs.jsonl"
        self.metrics_path = path / "metrics.jsonl.xz"
        self.traces_path = path / "traces.jsonl.xz"
        self.compressed_lines = cache(_compressed_lines)

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
        lines = self.runs_path.read_bytes().splitlines() if self.runs_path.is_file() else []
        return [PackedRun(self, number, line) for number, line in enumerate(lines, start=1)]

    @cached_property
    def packed_by_hash(self) -> "dict[str, PackedRun]":
        """The packed runs whose lines are not damaged."""
        return {run.hash: run for run in self.packed if run.hash is not None}


class PackedRun:
    """A finished run in a line of `runs.jsonl`."""

    def __init__(self, study: Study, number: int, content: bytes):
        self.study = study
        self.path = study.runs_path
        self.trace_path = study.traces_path
        self.source = f"{study.runs_path} line {number}"
        self.content = content

    @cached_property
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

    def metrics(self) -> Metrics:
        path = self.study.metrics_path
        rows: Metrics = unsealed(self._of(path), f"{path}, {self.hash},")["rows"]
        return rows

    def trace(self) -> dict[str, Any]:
        trace = self._of(self.trace_path)["trace"]
        return unsealed(trace, f"{self.trace_path}, {self.hash},")

    def finished(self, config: RunConfig) -> Record | None:
        """Return the record if it is that of `config`, or None if the line is of another run or damaged."""
        try:
            record, stored = self.record(), unsealed(self.line["config"], self.source)
        except BadFileError:
            return None
        return record if record.hash == config.hash and stored == config.model_dump(mode="json") else None

    def _of(self, path: Path) -> dict[str, Any]:
        try:
            return self.study.compressed_lines(path)[str(self.hash)]
        except KeyError:
            raise FileNotFoundError(f"{path} holds nothing of run {self.hash}") from None


StoredRun = RunFolder | PackedRun
"""A run on disk; its `metrics` and `trace` raise FileNotFoundError if they were not kept."""


class FinishedRun(NamedTuple):
    """A finished run; its learning curve and its trace are read from where it is stored when they are asked for."""

    config: RunConfig
    record: Record
    stored: StoredRun


def read_runs(path: Path) -> Iterator[FinishedRun]:
    """Yield every finished run in a folder tree, run folders and packed studies alike; each once."""
    if not path.is_dir():
        raise ValueError(f"{path}: there is no such folder")
    seen: set[str] = set()
    for stored in find_stored(path):
        if isinstance(stored, RunFolder) and not stored.record_path.exists():
            continue
        run = read_run(stored)
        if run.record.hash not in seen:
            seen.add(run.record.hash)
            yield run


def find_stored(path: Path, depth: int = LARGEST_DEPTH) -> Iterator[StoredRun]:
    """Yield every run in a folder tree, finished or not, at most `depth` folders down, sorted by path."""
    folder = RunFolder(path)
    if folder.exists:
        yield folder
        return
    yield from Study(path).packed
    if depth > 0:
        for below in sorted(below for below in path.iterdir() if below.is_dir() and not below.name.startswith(".")):
            yield from find_stored(below, depth - 1)


def read_run(stored: StoredRun) -> FinishedRun:
    """Read a finished run; BadFileError if its config is absent or of another run."""
    try:
        config = stored.config()
    except FileNotFoundError:
        raise BadFileError(f"{stored.path} holds a record without config.json") from None
    record = stored.record()
    if record.hash != config.hash:
        raise BadFileError(f"{stored.path} holds the record of {record.hash} beside the config of {config.hash}")
    return FinishedRun(config, record, stored)


def _compressed_lines(path: Path) -> dict[str, dict[str, Any]]:
    """Read a compressed file of JSON lines, each of which names its run in `hash`; an absent file has no lines."""
    try:
        content = lzma.decompress(path.read_bytes())
    except FileNotFoundError:
        return {}
    except lzma.LZMAError as error:
        raise BadFileError(f"{path} is damaged: {error}") from None
    lines = [parse_object(line, f"{path} line {k}") for k, line in enumerate(content.splitlines(), start=1)]
    return {str(line.get("hash")): line for line in lines}
