"""Names on the command line: one of ours, or a user's own as `module:NAME`."""

import importlib
import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from ldhd.process import own_place

Thing = TypeVar("Thing")


def lookup_only(name: str, ours: Mapping[str, Thing], kind: str, alternative: str = "") -> Thing:
    """Return `ours[name]`; raise a ValueError with the choices, and the closest of them if one is close."""
    if name in ours:
        return ours[name]
    raise ValueError(f"unknown {kind} {name!r}; choose from {', '.join(ours)}{alternative}{suggestion(name, ours)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean NAME?` for the known name that is closest to `name`, or nothing if none is close."""
    by_lower = {one.lower(): one for one in known}
    close = [by_lower[one] for one in get_close_matches(name.lower(), by_lower, n=1, cutoff=0.7)]
    return f"; did you mean {close[0]}?" if close else ""


def lookup(name: str, ours: Mapping[str, Thing], kind: str) -> Thing:
    """Return `ours[name]` or the object that `module:NAME` names, with the current folder on the module path."""
    if name in ours or ":" not in name:
        return lookup_only(name, ours, kind, " or give your own as module:NAME")
    module_name, _, attribute = name.partition(":")
    problem = f"cannot load {kind} {name!r}"
    if module_name.endswith(".py") or not all(map(str.isidentifier, module_name.split("."))):
        raise ValueError(f"{problem}: {module_name!r} is no module; write my_module:NAME for NAME in my_module.py here")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    importlib.invalidate_caches()  # the module may have been written since Python last looked into the folder
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        hint = "" if error.name != module_name else f"; is {module_name}.py in this folder, or installed?"
        raise ValueError(f"{problem}: {error}{hint}") from error
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        place = own_place(error)
        where = f" ({place})" if place else ""
        raise ValueError(f"{problem}: importing it raised {type(error).__name__}: {error}{where}") from error
    if not hasattr(module, attribute):
        names = [known for known in vars(module) if not known.startswith("_")]
        raise ValueError(f"{problem}: {module_name} has no attribute {attribute!r}{suggestion(attribute, names)}")
    found: Thing = getattr(module, attribute)
    return found
