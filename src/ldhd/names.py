"""Names on the command line: one of ours, or a user's own as `module:Class`."""

import importlib
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

Thing = TypeVar("Thing")


def lookup_only(name: str, ours: Mapping[str, Thing], kind: str, alternative: str = "") -> Thing:
    """Return `ours[name]`; raise a ValueError with the choices, and the closest of them if one is close."""
    if name in ours:
        return ours[name]
    close = get_close_matches(name.lower(), ours, n=1, cutoff=0.7)
    suggestion = f"; did you mean {close[0]}?" if close else ""
    raise ValueError(f"unknown {kind} {name!r}; choose from {', '.join(ours)}{alternative}{suggestion}")


def lookup(name: str, ours: Mapping[str, Thing], kind: str) -> Thing:
    """Return `ours[name]` or the object that `module:Class` names, with the current folder on the module path."""
    if name in ours or ":" not in name:
        return lookup_only(name, ours, kind, " or give your own as module:Class")
    module_name, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found: Thing = getattr(importlib.import_module(module_name), attribute)
    except Exception as error:  # a user's module may raise anything
        raise ValueError(f"cannot load {kind} {name!r}: {type(error).__name__}: {error}") from error
    return found
