"""Where the source tree stood when the training of a run started; a prediction made later is none."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

import ldhd

WATCHED = ("src", "results/predictions.json")
"""What must be as committed: the code, and the predictions."""


class Start(BaseModel):
    """The commit of the source tree, None if it has none, and whether the tree differed from it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None
    dirty: bool


@cache
def source_commit() -> str | None:
    """Return the commit of the source tree, None if ldhd was installed without one."""
    top = source_tree()
    commit = git(top, "rev-parse", "HEAD") if top else None
    return commit and commit.strip()


@cache
def source_start() -> Start:
    """Return where the source tree stood when this process first asked: its code was read no later."""
    top = source_tree()
    changed = git(top, "status", "--porcelain", "--untracked-files=no", "--", *WATCHED) if top else ""
    return Start(commit=source_commit(), dirty=changed != "")


def source_tree() -> Path | None:
    """Return the top of the repository that holds the source, None if ldhd was installed without one."""
    package = Path(ldhd.__file__).parent
    top = git(package, "rev-parse", "--show-toplevel")
    # a virtual environment may lie inside somebody else's repository
    if top is None or Path(top.strip(), "src", "ldhd") != package.resolve():
        return None
    return Path(top.strip())


def git(folder: Path, *arguments: str) -> str | None:
    """Return what a git command prints in a folder, None if it fails."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return None
