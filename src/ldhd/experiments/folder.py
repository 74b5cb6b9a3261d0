"""The record of a finished run, and the folder of a run: its files, their integrity, and whether it is finished."""

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ldhd import files
from ldhd.certify import Certificate
from ldhd.evaluate import HardResult, ScaleResult
from ldhd.experiments.config import RunConfig
from ldhd.experiments.parts import explain
from ldhd.train.precision import Precision

Metrics = list[dict[str, Any]]
"""The learning curve of a run: a row for each evaluation during training."""


class Record(BaseModel):
    """One finished run, as in record.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hash: str
    task: str
    position: str
    model: str
    seed: int
    train_scales: list[int]
    fitted: bool
    results: list[ScaleResult] = Field(min_length=1)
    steps: int
    seconds: float
    threads: int
    precision: Precision | None = Field(default=None, exclude_if=lambda value: value is None)
    """The arithmetic of training; None in older records."""
    version: str
    commit: str | None
    command: str
    hard: list[HardResult] | None = Field(default=None, exclude_if=lambda value: value is None)
    """Results on the hard instances of each test scale; None where they were not measured."""
    extended_from: str | None = Field(default=None, exclude_if=lambda value: value is None)

    def document(self) -> dict[str, Any]:
        """Return the record as in record.json, with its digest."""
        return files.sealed(self.model_dump(mode="json"))

    def exact(self, scale: int) -> float | None:
        """Return the exact match at a scale, None if it was not tested."""
        return next((result.exact for result in self.results if result.scale == scale), None)

    def hard_exact(self, scale: int) -> float | None:
        """Return the exact match on the hard instances of a scale, None if it was not measured."""
        return next((result.exact for result in self.hard or [] if result.scale == scale), None)


@dataclass(frozen=True)
class Failure:
    """Why a run failed, and how often it was tried, as in failure.json."""

    hash: str
    label: str
    message: str
    attempts: int


Stored = TypeVar("Stored", RunConfig, Record)


def parse_stored(kind: type[Stored], value: Mapping[str, Any], source: object) -> Stored:
    """Check the digest and the fields of a config or a record as stored; errors name `source`."""
    try:
        return kind.model_validate_json(json.dumps(files.unsealed(value, source)))
    except ValidationError as error:
        raise files.BadFileError(f"{source} cannot be read by this version: {explain(error)}") from None


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
        self.certificate_path = path / "certificate.json"

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run, finished or not."""
        return any(path.exists() for path in (self.config_path, self.record_path, self.failure_path))

    def config(self) -> RunConfig:
        return parse_stored(RunConfig, files.load_json(self.config_path), self.config_path)

    def record(self) -> Record:
        return parse_stored(Record, files.load_json(self.record_path), self.record_path)

    def metrics(self) -> Metrics:
        return files.read_lines(self.metrics_path)

    def trace(self) -> dict[str, Any]:
        return files.read_json(self.trace_path)

    def certificate(self) -> Certificate:
        """Return what `ldhd certify` found about this run; FileNotFoundError if it was not asked."""
        stored = files.read_json(self.certificate_path)
        try:
            owner = stored.pop("run", None)
            if owner != self.config().hash:
                raise files.BadFileError(f"{self.certificate_path} belongs to run {owner}")
            return TypeAdapter(Certificate).validate_json(json.dumps(stored), strict=True)
        except ValidationError as error:
            raise files.BadFileError(f"{self.certificate_path} is no certificate: {explain(error)}") from None

    def write_certificate(self, certificate: Certificate) -> None:
        """Store what `ldhd certify` found about this run."""
        files.write_json(self.certificate_path, certificate.document(self.config().hash))

    def completed_metrics(self, config: RunConfig) -> Metrics | None:
        """Return the metrics if they go to the last training step of `config`."""
        metrics = self.metrics()
        return metrics if metrics and metrics[-1].get("step") == config.train.steps else None

    def finished(self, config: RunConfig) -> Record | None:
        """Return the record if the run of `config` needs no more work, or None if a file is absent or damaged."""
        try:
            record, metrics = self.record(), self.completed_metrics(config)
            same = record.hash == config.hash and files.read_json(self.config_path) == config.model_dump(mode="json")
        except (FileNotFoundError, NotADirectoryError, files.BadFileError):
            return None
        return record if same and metrics is not None else None

    def prepare(self, config: RunConfig) -> None:
        """Make the folder ready for work: remove partly written files, warn of damaged ones, write the config."""
        for folder in (self.path, self.checkpoints):
            files.remove_leftovers(folder)
        with _warning_of_damage():
            _check_owner(self.config_path, self.config().hash, config)
        with _warning_of_damage():
            _check_owner(self.record_path, self.record().hash, config)
        with _warning_of_damage():
            if self.completed_metrics(config) is None and self.record_path.exists():
                raise files.BadFileError(f"{self.metrics_path} lacks its last lines")
        files.write_json(self.config_path, config.model_dump(mode="json"))

    def write_metrics(self, metrics: Metrics) -> None:
        files.write_lines(self.metrics_path, metrics)

    def write_result(self, record: Record, trace: Mapping[str, Any]) -> None:
        """Finish the run: write its trace, then its record, and remove the note of an earlier failure."""
        files.write_json(self.trace_path, trace)
        files.write_json(self.record_path, record.model_dump(mode="json"))
        self.failure_path.unlink(missing_ok=True)


@contextlib.contextmanager
def _warning_of_damage() -> Iterator[None]:
    """Warn of a file that is damaged or of another run; an absent one is neither."""
    try:
        yield
    except FileNotFoundError:
        pass
    except files.BadFileError as error:
        warnings.warn(f"{error}; it is written again", stacklevel=3)


def _check_owner(path: Path, owner: str, config: RunConfig) -> None:
    if owner != config.hash:
        raise files.BadFileError(f"{path} belongs to run {owner}, not to {config.hash}")
