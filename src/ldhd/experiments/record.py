"""What a finished run leaves behind."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ldhd.experiments.config import RunConfig
from ldhd.experiments.parts import explain
from ldhd.files import BadFileError

FITTED = 0.99
"""A run is fitted if its exact match is at least this at every training scale."""


class Result(BaseModel):
    """Accuracy at one scale; see `ldhd.evaluate.ScaleResult`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scale: int
    n: int
    exact: float
    low: float
    high: float
    per_token: float
    per_position: list[float]


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
    results: list[Result]
    steps: int
    seconds: float
    threads: int
    version: str
    commit: str | None
    command: str

    def exact(self, scale: int) -> float | None:
        """Exact match at a scale, None if it was not tested."""
        return next((result.exact for result in self.results if result.scale == scale), None)


def read_record(folder: Path) -> Record:
    """The record of a finished run's folder."""
    return _read(Record, folder / "record.json")


def read_config(folder: Path) -> RunConfig:
    """The config of a run's folder, finished or not."""
    return _read(RunConfig, folder / "config.json")


def _read(kind: type[Any], path: Path) -> Any:
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise BadFileError(f"{path} is no {kind.__name__.lower()} of this version: {explain(error)}") from None


@cache
def source_commit() -> str | None:
    """The commit of the source tree this runs from, None if it was installed without one."""
    try:
        command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
