"""The folder of one run: its files, their integrity, and whether the run is finished."""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ldhd.experiments.config import FORMAT_VERSION, TABLES_FOLLOW_MODEL, RunConfig
from ldhd.experiments.parts import explain
from ldhd.experiments.record import Failure, Record
from ldhd.files import (
    BadFileError,
    load_json,
    read_json,
    read_lines,
    remove_leftovers,
    unsealed,
    write_json,
    write_lines,
)

Metrics = list[dict[str, Any]]
"""The learning curve of a run: a row for each evaluation during training."""


class RunFolder:
    """The files of one run.

    Files are written atomically, and their digests are checked when they are read: a damaged file raises BadFileError,
    an absent one FileNotFoundError. The record is written last, so a folder that holds one is finished.
    """

    def __init__(self, path: Path):
        self.path = path
        self.config_path = path / "config.json"
        self.metrics_path = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.weights_path = path / "model.safetensors"
        self.trace_path = path / "trace.json"
        self.record_path = path / "record.json"
        self.failure_path = path / "failure.json"

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run, finished or not."""
        return any(path.exists() for path in (self.config_path, self.record_path, self.failure_path))

    def config(self) -> RunConfig:
        return parse_config(load_json(self.config_path), self.config_path)

    def record(self) -> Record:
        return parse_record(load_json(self.record_path), self.record_path)

    def metrics(self) -> Metrics:
        return read_lines(self.metrics_path)

    def trace(self) -> dict[str, Any]:
        return read_json(self.trace_path)

    def failure(self) -> dict[str, Any]:
        return read_json(self.failure_path)

    def finished(self, config: RunConfig) -> Record | None:
        """Return the record if the run of `config` needs no more work, or None if a file is absent or damaged."""
        try:
            record, metrics = self.record(), self.metrics()
            same = record.hash == config.hash and read_json(self.config_path) == config.model_dump(mode="json")
        except (FileNotFoundError, NotADirectoryError, BadFileError):
            return None
        return record if same and _last_step(metrics) == record.steps else None

    def prepare(self, config: RunConfig) -> None:
        """Make the folder ready for work: remove partly written files, write the config, warn of damaged files."""
        for folder in (self.path, self.checkpoints):
            remove_leftovers(folder)
        if not _is_intact(self.config_path, lambda: self.config().hash, config):
            write_json(self.config_path, config.model_dump(mode="json"))
        _is_intact(self.record_path, lambda: self.record().hash, config)
        _is_intact(self.metrics_path, lambda: self._owner_of_metrics(config), config)

    def write_metrics(self, metrics: Metrics) -> None:
        write_lines(self.metrics_path, metrics)

    def write_result(self, record: Record, trace: Mapping[str, Any]) -> None:
        """Finish the run: write its trace, then its record, and remove the note of an earlier failure."""
        write_json(self.trace_path, trace)
        write_json(self.record_path, record.model_dump(mode="json"))
        self.failure_path.unlink(missing_ok=True)

    def write_failure(self, failure: Failure) -> None:
        write_json(self.failure_path, asdict(failure))

    def completed_metrics(self, config: RunConfig) -> Metrics | None:
        """Return the metrics if they go to the last training step of `config`."""
        metrics = self.metrics()
        return metrics if _last_step(metrics) == config.train.steps else None

    def _owner_of_metrics(self, config: RunConfig) -> str:
        """Return the hash of `config`, since rows of metrics name no run, unless a finished run lacks its last rows."""
        if self.completed_metrics(config) is None and self.record_path.exists():
            raise BadFileError(f"{self.metrics_path} lacks its last lines")
        return config.hash


def parse_config(value: Mapping[str, Any], source: object) -> RunConfig:
    """Check the format, the digest and the fields of a config as stored; errors name `source`."""
    version = value.get("format_version", FORMAT_VERSION)
    if version not in (FORMAT_VERSION, TABLES_FOLLOW_MODEL):
        age = "newer" if isinstance(version, int) and version > TABLES_FOLLOW_MODEL else "other"
        raise BadFileError(
            f"{source} is of the {age} format {version}; this version of ldhd reads formats {FORMAT_VERSION} to "
            f"{TABLES_FOLLOW_MODEL}"
        )
    config: RunConfig = _parse(RunConfig, value, source)
    return config


def parse_record(value: Mapping[str, Any], source: object) -> Record:
    """Check the digest and the fields of a record as stored; errors name `source`."""
    record: Record = _parse(Record, value, source)
    if not record.results:
        raise BadFileError(f"{source} holds no results")
    return record


def _parse(kind: type[Any], value: Mapping[str, Any], source: object) -> Any:
    try:
        return kind.model_validate_json(json.dumps(unsealed(value, source)))
    except ValidationError as error:
        raise BadFileError(f"{source} cannot be read by this version: {explain(error)}") from None


def _last_step(metrics: Metrics) -> int | None:
    return metrics[-1].get("step") if metrics else None


def _is_intact(path: Path, owner: Callable[[], str], config: RunConfig) -> bool:
    """Whether a file exists, is undamaged and belongs to the run; a damaged or foreign one is warned of."""
    try:
        found = owner()
        if found != config.hash:
            raise BadFileError(f"{path} belongs to run {found}, not to {config.hash}")
    except FileNotFoundError:
        return False
    except BadFileError as error:
        warnings.warn(f"{error}; it is written again", stacklevel=2)
        return False
    return True
