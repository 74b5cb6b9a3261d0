"""The record of a finished run, and the note about a failed one."""

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import ldhd
from ldhd.evaluate import ScaleResult
from ldhd.files import sealed

FITTED = 0.99
"""A run is fitted if its exact match is at least this at every training scale."""


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
        """Return the record as in record.json, with its digest."""
        return sealed(self.model_dump(mode="json"))

    def exact(self, scale: int) -> float | None:
        """Return the exact match at a scale, None if it was not tested."""
        return next((result.exact for result in self.results if result.scale == scale), None)


@dataclass(frozen=True)
class Failure:
    """Why a run failed, and how often it was tried, as in failure.json."""

    hash: str
    label: str
    message: str
    attempts: int


@cache
def source_commit() -> str | None:
    """Return the commit of the source tree, None if ldhd was installed without one."""
    package = Path(ldhd.__file__).parent
    top = git(package, "rev-parse", "--show-toplevel")
    # a virtual environment may lie inside somebody else's repository
    if top is None or Path(top.strip(), "src", "ldhd") != package.resolve():
        return None
    commit = git(package, "rev-parse", "HEAD")
    return commit and commit.strip()


def git(folder: Path, *arguments: str) -> str | None:
    """Return what a git command prints in a folder, None if it fails."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return None
