"""Answers that stay right as long as certain files do, so that asking again costs no computation.

An answer is found again by a key made of all it was computed from but those files, and is taken only if each of them
has the size, the times and the inode it had then.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import ldhd
from ldhd.files import BadFileError, read_json, write_json

FOLDER = ".answers"


def remember(folder: Path, question: bytes, files: Iterable[Path], answer: Any) -> None:
    """Keep the answer to a question in a folder, which is to hold while the files in it stay as they are."""
    stamps = {str(path.relative_to(folder)): _stamp(path) for path in files}
    write_json(_path(folder, question), {"files": stamps, "answer": answer})


def recall(folder: Path, question: bytes) -> Any | None:
    """The answer that was kept, None if there is none or a file has changed since."""
    try:
        kept = read_json(_path(folder, question))
        same = all(_stamp(folder / name) == stamp for name, stamp in kept["files"].items())
    except (OSError, BadFileError):
        return None
    return kept["answer"] if same else None


def _path(folder: Path, question: bytes) -> Path:
    key = hashlib.sha256(_source() + b"\0" + question).hexdigest()[:24]
    return folder / FOLDER / f"{key}.json"


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


@cache
def _source() -> bytes:
    """Changes with every change of the source of ldhd."""
    package = Path(ldhd.__file__).parent
    stamps = [(str(path.relative_to(package)), _stamp(path)) for path in sorted(package.rglob("*.py"))]
    return repr(stamps).encode()
