"""Files of JSON with a digest, written atomically, and read without trust in whoever wrote them.

A file is written to a temporary one, which is flushed and renamed. What is read must be a regular file of limited size,
and JSON is parsed only if its values fit into `LARGEST_DOCUMENT`; everything else raises BadFileError with one line.
"""

import contextlib
import errno
import hashlib
import json
import lzma
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

LEFTOVER = re.compile(r"\..+\.\w{8}")
"""The names that `write_bytes` gives to files it has not finished."""
SEAL = ', "sha256": "'
"""What comes before the digest of a line."""

MEBIBYTE = 2**20
LARGEST_FILE = 64 * MEBIBYTE
"""Size of the largest file of JSON that is read, in bytes."""
LARGEST_DOCUMENT = 128 * MEBIBYTE
"""Memory that the values of one file of JSON, or of one line of a packed study, may take."""
LARGEST_STUDY = 512 * MEBIBYTE
"""Memory that the lines of one file of a packed study may take."""
MOST_DIGITS = 400
"""Digits of the longest whole number; the largest float has 309."""
LINE_OVERHEAD = 256
"""What keeping a line takes besides its content."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
KINDS = {
    **{stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"},
    **{stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"},
}

Guard = Callable[[], None]
"""Called just before a written file gets its name; raises an exception if it must not."""


class BadFileError(ValueError):
    """A file that was truncated, altered, is not what it should be, or belongs to something else."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file, or a link to one, for reading; BadFileError if it is something else."""
    try:
        _check_regular(path, path.stat())  # before opening it: that of a pipe waits, and that of a device may act
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        file = os.fdopen(descriptor, "rb")
        _check_regular(path, os.fstat(descriptor))
        return file
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise BadFileError(f"{path} cannot be read: {error.strerror}") from None


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadFileError(f"{path} is {KINDS.get(stat.S_IFMT(found.st_mode), 'something else')}, not a regular file")


def read_bytes(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Return the content of a regular file of at most so many bytes."""
    with open_regular(path) as file, _reading(path):
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise BadFileError(f"{path} is larger than {largest // MEBIBYTE} MiB and is not read")
        content = file.read(size + 1)
    if len(content) > size:  # it grows, or is no file on a disk
        raise BadFileError(f"{path} holds more than its {size} bytes")
    return content


def stored_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a packed study, those of a file `.xz` decompressed, up to `LARGEST_STUDY` in all."""
    left, pieces = LARGEST_STUDY, list[bytes]()
    with open_regular(path) as file, _reading(path):
        for block in _decompressed(file) if path.suffix == ".xz" else iter(lambda: file.read(MEBIBYTE), b""):
            first, *others = block.split(b"\n")
            pieces.append(first)
            left -= len(block) + LINE_OVERHEAD * len(others)
            if left < 0 or len(pieces) > LARGEST_FILE // MEBIBYTE:
                raise BadFileError(f"{path} is too large: it may hold {LARGEST_STUDY // MEBIBYTE} MiB in all")
            for other in others:
                yield b"".join(pieces)
                pieces = [other]
    if any(pieces):
        yield b"".join(pieces)


def _decompressed(file: BinaryIO) -> Iterator[bytes]:
    decoder = lzma.LZMADecompressor(memlimit=LARGEST_FILE)
    while not decoder.eof:
        block = file.read(MEBIBYTE) if decoder.needs_input else b""
        if decoder.needs_input and not block:
            raise EOFError("it is cut off")
        yield decoder.decompress(block, MEBIBYTE)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise BadFileError(f"{path} is damaged or cannot be read: {error}") from None


def write_bytes(path: Path, content: bytes, guard: Guard = lambda: None) -> None:
    """Replace `path` by `content` at once; a crash leaves the old file or the new one.

    `guard` may refuse this at the last moment. An error of the system names the file.
    """
    try:
        _write(path, content, guard)
    except OSError as error:
        # the system does not say of which file it speaks, or names the temporary one
        if error.errno is not None and Path(error.filename or f".{path.name}.").name.startswith(f".{path.name}."):
            advice = "; free some space, then repeat the command" if error.errno in FULL else ""
            raise OSError(error.errno, f"{os.strerror(error.errno)}{advice}", str(path)) from None
        raise


def _write(path: Path, content: bytes, guard: Guard) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        guard()
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # the new name outlives a power cut only when its folder is flushed too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of writers that were killed; only the owner of the folder may do this."""
    for path in folder.glob(".*.*"):
        if LEFTOVER.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def sealed(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value with `sha256`, the digest of all other fields (as JSON with sorted keys, without spaces)."""
    return {**value, "sha256": hashlib.sha256(_canonical(value, "the value").encode()).hexdigest()}


def _canonical(value: Mapping[str, Any], source: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except RecursionError:
        raise BadFileError(f"{source} is nested too deeply") from None


def write_json(path: Path, value: Mapping[str, Any], guard: Guard = lambda: None) -> None:
    """Write a JSON object with its digest."""
    write_value(path, sealed(value), guard)


def write_value(path: Path, value: Mapping[str, Any], guard: Guard = lambda: None) -> None:
    """Write a JSON object as it is."""
    write_bytes(path, (json.dumps(value, indent=2) + "\n").encode(), guard)


def unsealed(value: Mapping[str, Any], source: object) -> dict[str, Any]:
    """Return what was `sealed`, without its digest; BadFileError if that does not match. A digest may be absent."""
    unsealed_text(value, source)
    return {key: item for key, item in value.items() if key != "sha256"}


def unsealed_text(value: Mapping[str, Any], source: object) -> str:
    """Return the text of JSON of what was `sealed`, without its digest, as `unsealed` checks it."""
    text = _canonical({key: item for key, item in value.items() if key != "sha256"}, source)
    if value.get("sha256") not in (None, hashlib.sha256(text.encode()).hexdigest()):
        raise BadFileError(f"{source} was altered: its digest does not match")
    return text


def load_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file as it is, its digest unchecked."""
    return parse_object(read_bytes(path), path)


def read_json(path: Path) -> dict[str, Any]:
    """Return what `write_json` wrote, its digest checked and removed."""
    return unsealed(load_json(path), path)


def write_lines(path: Path, rows: list[dict[str, Any]], guard: Guard = lambda: None) -> None:
    """Write a line of JSON for each row; its last field, `sha256`, is the digest of all lines so far without theirs."""
    digest = hashlib.sha256()
    lines = []
    for row in rows:
        line = json.dumps(row)
        digest.update(line.encode())
        lines.append(f'{line[:-1]}{SEAL}{digest.hexdigest()}"}}\n')
    write_bytes(path, "".join(lines).encode(), guard)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows that `write_lines` wrote; BadFileError if one was altered, or is missing before others."""
    content = read_bytes(path)
    _check_memory(content, path)
    if content and not content.endswith(b"\n"):
        raise BadFileError(f"{path} is cut off: its last line has no end")
    lines = content.split(b"\n")[:-1]
    if SEAL.encode() not in content and not re.search(rb"[0-9a-f]{64}", content):
        return [parse_object(line, path) for line in lines]
    digest = hashlib.sha256()
    rows = []
    for number, line in enumerate(lines, start=1):
        row, _, stored = line.rpartition(SEAL.encode())
        row += b"}"
        digest.update(row)
        if stored != f'{digest.hexdigest()}"}}'.encode():
            raise BadFileError(f"{path} was altered: the digest of line {number} does not match")
        rows.append(parse_object(row, path))
    return rows


def parse_object(content: bytes, source: object) -> dict[str, Any]:
    """Parse a JSON object; BadFileError, which names `source`, if it is none."""
    _check_memory(content, source)
    try:
        value = json.loads(content, parse_constant=_refuse, parse_int=_whole_number)
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"{source} is not whole: {error}") from None
    if not isinstance(value, dict):
        raise BadFileError(f"{source} is not whole: it holds no JSON object")
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _whole_number(digits: str) -> int:
    """Parse a number of JSON; Python's own limit on its length can be switched off by any library."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number has {len(digits)} digits")
    return int(digits)


def _check_memory(content: bytes, source: object) -> None:
    """BadFileError if the Python values of a text of JSON would take more than `LARGEST_DOCUMENT`."""
    sizes = {b"[": 64, b"{": 240, b'"': 32, b",": 40, b"\n": 64}
    if len(content) + sum(size * content.count(sign) for sign, size in sizes.items()) > LARGEST_DOCUMENT:
        raise BadFileError(f"{source} is too large: it may take {LARGEST_DOCUMENT // MEBIBYTE} MiB of memory")
