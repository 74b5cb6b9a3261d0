"""Tensors in files that carry a digest and hold nothing that could be executed."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from ldhd.files import DIGEST_LENGTH, BadFileError, write_bytes


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
        digest, text = stored["ldhd"][:DIGEST_LENGTH], stored["ldhd"][DIGEST_LENGTH:]
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
