"""Names on the command line: one of ours, or a user's own as `module:Class`."""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

Thing = TypeVar("Thing")


def lookup_only(name: str, ours: Mapping[str, Thing], kind: str) -> Thing:
    """`ours[name]`; ValueError with the choices."""
    if name not in ours:
        raise ValueError(f"unknown {kind} {name!r}; choose from {', '.join(ours)}")
    return ours[name]


def lookup(name: str, ours: Mapping[str, Thing], kind: str) -> Thing:
    """`ours[name]`, or what `module:Class` names; the current folder is searched for the module too."""
    if name in ours:
        return ours[name]
    if ":" not in name:
        raise ValueError(f"unknown {kind} {name!r}; choose from {', '.join(ours)} or give your own as module:Class")
    module_name, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found: Thing = getattr(importlib.import_module(module_name), attribute)
    except Exception as error:  # a user's module may raise anything
        raise ValueError(f"cannot load {kind} {name!r}: {type(error).__name__}: {error}") from error
    return found
