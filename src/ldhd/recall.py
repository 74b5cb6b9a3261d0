"""Answers that stay right as long as certain files do, so that asking again costs no computation.

An answer is found again by a key made of all it was computed from but those files, and is taken only if each of them
has the size, the times and the inode it had then. Answers are kept in the user's cache, `$XDG_CACHE_HOME/ldhd`.
"""

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import ldhd
from ldhd.files import BadFileError, read_json, write_json

MOST = 100
"""Answers that are kept; the oldest go first."""


def remember(question: bytes, files: Iterable[Path], answer: Any) -> None:
    """Keep the answer to a question, which is to hold while the files stay as they are."""
    stamps = {str(path.absolute()): _stamp(path) for path in files}
    path = _path(question)
    write_json(path, {"files": stamps, "answer": answer})
    by_age = sorted(path.parent.glob("*.json"), key=lambda kept: kept.stat().st_mtime)
    for old in by_age[:-MOST]:
        old.unlink(missing_ok=True)


def recall(question: bytes) -> Any | None:
    """The answer that was kept, None if there is none or a file has changed since."""
    try:
        kept = read_json(_path(question))
        same = all(_stamp(Path(name)) == stamp for name, stamp in kept["files"].items())
    except (OSError, BadFileError):
        return None
    return kept["answer"] if same else None


def _path(question: bytes) -> Path:
    key = hashlib.sha256(_source() + b"\0" + question).hexdigest()[:24]
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ldhd" / f"{key}.json"


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


@cache
def _source() -> bytes:
    """Changes with every change of the source of ldhd."""
    package = Path(ldhd.__file__).parent
    stamps = [(str(path), _stamp(path)) for path in sorted(package.rglob("*.py"))]
    return repr(stamps).encode()
