"""Random streams that depend on nothing but a seed and what they are for."""

import hashlib

import torch


def derive(seed: int, *purpose: object) -> int:
    """A 63-bit seed for a purpose, such as ("train", step): independent streams, none with a state to keep."""
    digest = hashlib.sha256(repr((seed, *purpose)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generator(seed: int, *purpose: object) -> torch.Generator:
    return torch.Generator().manual_seed(derive(seed, *purpose))
