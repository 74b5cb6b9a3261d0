"""What a finished run leaves behind."""

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import ldhd
from ldhd.evaluate import ScaleResult
from ldhd.experiments.config import RunConfig
from ldhd.experiments.parts import explain
from ldhd.files import BadFileError, read_json, read_lines, sealed

FITTED = 0.99
"""A run is fitted if its exact match is at least this at every training scale."""

FAILURE = "failure.json"
"""A file of a run that failed; removed when it succeeds."""


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
    results: list[ScaleResult]
    steps: int
    seconds: float
    threads: int
    version: str
    commit: str | None
    command: str
    extended_from: str | None = Field(default=None, exclude_if=lambda value: value is None)

    def document(self) -> dict[str, Any]:
        """The record as in record.json, with its digest."""
        return sealed(self.model_dump(mode="json"))

    def exact(self, scale: int) -> float | None:
        """Exact match at a scale, None if it was not tested."""
        return next((result.exact for result in self.results if result.scale == scale), None)


@dataclass(frozen=True)
class Failure:
    """Why a run failed, and how often it was tried, as in failure.json."""

    hash: str
    label: str
    message: str
    attempts: int


def read_record(folder: Path) -> Record:
    """The record of a finished run's folder."""
    record: Record = _read(Record, folder / "record.json")
    if not record.results:
        raise BadFileError(f"{folder / 'record.json'} holds no results")
    return record


def read_config(folder: Path) -> RunConfig:
    """The config of a run's folder, finished or not."""
    return _read(RunConfig, folder / "config.json")


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run's metrics.jsonl."""
    return read_lines(folder / "metrics.jsonl")


def finished(folder: Path, config: RunConfig) -> Record | None:
    """The record of a run that needs no more work; None if a file is absent or damaged."""
    try:
        record = read_record(folder)
        metrics = read_metrics(folder)
        whole = record.hash == config.hash and read_json(folder / "config.json") == config.model_dump(mode="json")
    except (FileNotFoundError, NotADirectoryError, BadFileError):
        return None
    return record if whole and metrics and metrics[-1].get("step") == record.steps else None


def _read(kind: type[Any], path: Path) -> Any:
    value = read_json(path)
    try:
        return kind.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise BadFileError(f"{path} cannot be read by this version: {explain(error)}") from None


@cache
def source_commit() -> str | None:
    """The commit of the source tree this runs from, None if it was installed without one."""
    package = Path(ldhd.__file__).parent
    try:
        top = Path(_git(package, "rev-parse", "--show-toplevel"))
        # a virtual environment may lie inside somebody else's repository
        return _git(package, "rev-parse", "HEAD") if top / "src" / "ldhd" == package.resolve() else None
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
