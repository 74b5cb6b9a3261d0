"""Files of tensors with a digest: safetensors, whose header is checked before anything is allocated."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from ldhd.files import MEBIBYTE, BadFileError, Guard, open_regular, parse_object, write_bytes

LARGEST_HEADER = 32 * MEBIBYTE
"""Size of the largest header that is read; it also holds the learning curve of a checkpoint."""
TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
TYPES |= {"I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}
"""Types of numbers by the names that safetensors has for them."""

Layout = dict[str, tuple[torch.dtype | None, tuple[int, ...]]]
"""The type and the shape of each tensor by its name; None stands for a type that no model has."""


class Header(NamedTuple):
    """What a file of tensors says of itself."""

    layout: Layout
    metadata: dict[str, Any]


def layout(tensors: Mapping[str, Tensor]) -> Layout:
    """Return the types and shapes of tensors."""
    return {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in tensors.items()}


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any], guard: Guard = lambda: None
) -> None:
    """Write a safetensors file whose metadata contain a digest of everything in it."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(metadata)
    # one entry only: safetensors writes several in no fixed order, and equal runs should give equal bytes
    write_bytes(path, safetensors.torch.save(contiguous, {"ldhd": _digest(contiguous, text) + text}), guard)


def read_header(path: Path) -> Header:
    """Return the header of a file that `write_tensors` wrote, its digest unchecked; BadFileError if it has none."""
    with open_regular(path) as file:
        size = int.from_bytes(file.read(8), "little")
        if not 0 < size <= LARGEST_HEADER:
            raise BadFileError(f"{path} is not a whole ldhd tensor file: its header has {size} bytes")
        found = parse_object(file.read(size), path)
    try:
        text = found.pop("__metadata__")["ldhd"]
        shapes = {name: (TYPES.get(entry["dtype"]), tuple(map(int, entry["shape"]))) for name, entry in found.items()}
        return Header(shapes, parse_object(text[64:].encode(), path))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadFileError(f"{path} is not a whole ldhd tensor file: {error}") from None


def read_tensors(path: Path, check: Callable[[Header], None] = lambda header: None) -> tuple[dict[str, Tensor], Header]:
    """Return the tensors that `write_tensors` wrote, and their header; BadFileError if their digest does not match.

    `check` raises BadFileError for a header that is not the one expected, before any tensor is read.
    """
    header = read_header(path)
    check(header)
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            digest, text = file.metadata()["ldhd"][:64], file.metadata()["ldhd"][64:]
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if digest != _digest(tensors, text):
            raise BadFileError(f"{path} was altered: its digest does not match")
    except (FileNotFoundError, BadFileError):
        raise
    except Exception as error:
        raise BadFileError(f"{path} is not a whole ldhd tensor file: {error}") from None
    return tensors, header


def _digest(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name}:{tensor.dtype}:{tuple(tensor.shape)};".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
