"""Files with a digest, of JSON or tensors, written atomically: to a temporary file, which is flushed and renamed."""

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

LEFTOVER = re.compile(r"\..+\.\w{8}")
"""The names that `write_bytes` gives to files it has not finished."""
SEAL = ', "sha256": "'
"""What comes before the digest of a line."""


class BadFileError(ValueError):
    """A file that was truncated, altered, or belongs to something else."""


def write_bytes(path: Path, content: bytes) -> None:
    """Replace `path` by `content` at once; a crash leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
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
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return {**value, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object with its digest."""
    write_value(path, sealed(value))


def write_value(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object as it is."""
    write_bytes(path, (json.dumps(value, indent=2) + "\n").encode())


def unsealed(value: Mapping[str, Any], source: object) -> dict[str, Any]:
    """Return what was `sealed`, without its digest; BadFileError if that does not match. A digest may be absent."""
    rest = {key: item for key, item in value.items() if key != "sha256"}
    if value.get("sha256") not in (None, sealed(rest)["sha256"]):
        raise BadFileError(f"{source} was altered: its digest does not match")
    return rest


def load_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file as it is, its digest unchecked."""
    return parse_object(path.read_bytes(), path)


def read_json(path: Path) -> dict[str, Any]:
    """Return what `write_json` wrote, its digest checked and removed."""
    return unsealed(load_json(path), path)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a line of JSON for each row; its last field, `sha256`, is the digest of all lines so far without theirs."""
    digest = hashlib.sha256()
    lines = []
    for row in rows:
        line = json.dumps(row)
        digest.update(line.encode())
        lines.append(f'{line[:-1]}{SEAL}{digest.hexdigest()}"}}\n')
    write_bytes(path, "".join(lines).encode())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows that `write_lines` wrote; BadFileError if one was altered, or is missing before others."""
    content = path.read_bytes()
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
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"{source} is not whole: {error}") from None
    if not isinstance(value, dict):
        raise BadFileError(f"{source} is not whole: it holds no JSON object")
    return value


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write a safetensors file whose metadata contain a digest of everything in it."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(metadata)
    # one entry only: safetensors writes several in no fixed order, and equal runs should give equal bytes
    write_bytes(path, safetensors.torch.save(contiguous, {"ldhd": _digest(contiguous, text) + text}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and metadata that `write_tensors` wrote; BadFileError if their digest does not match."""
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            stored = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        digest, text = stored["ldhd"][:64], stored["ldhd"][64:]
        if digest != _digest(tensors, text):
            raise BadFileError(f"{path} was altered: its digest does not match")
        return tensors, json.loads(text)
    except (FileNotFoundError, BadFileError):
        raise
    except Exception as error:
        raise BadFileError(f"{path} is not a whole ldhd tensor file: {error}") from None


def _digest(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name}:{tensor.dtype}:{tuple(tensor.shape)};".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
