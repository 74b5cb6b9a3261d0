"""The code in an exported folder, so that the model loads where ldhd is not installed.

It is made of ldhd's own files when the folder is written: each module `ldhd.a.b` that the model needs becomes a file
`ldhd_a_b.py`, with imports from its neighbours. Two packages need not be installed: shapes are
annotated without jaxtyping, and the size of a model, which was checked when it was trained, is a plain dataclass.
"""

import ast
import importlib.util
from pathlib import Path

from pydantic_core import PydanticUndefined

from ldhd.files import write_bytes
from ldhd.model import ModelConfig

ROOTS = {
    "AutoConfig": ("ldhd.hf.configuration", "LdhdConfig"),
    "AutoModelForCausalLM": ("ldhd.hf.modeling", "LdhdForCausalLM"),
}

SHAPES = '''"""Annotations of shapes, of which only the type of array is kept."""

from typing import Any


class Shape:
    """`Shape[Tensor, "B n"]` is `Tensor`."""

    def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
        return item[0]


Bool = Float = Int = Shape
'''


def auto_map() -> dict[str, str]:
    """Return which class of which file the Auto classes use."""
    return {auto: f"{_file(module)}.{name}" for auto, (module, name) in ROOTS.items()}


def write_code(folder: Path) -> None:
    """Write every file that the model needs."""
    for name, text in _sources().items():
        write_bytes(folder / f"{name}.py", text.encode())


def _sources() -> dict[str, str]:
    """Return the content of each file by name: the models and everything they import from ldhd."""
    files = {"shapes": SHAPES, _file("ldhd.model.config"): _model_config()}
    waiting = [module for module, _ in ROOTS.values()]
    while waiting:
        module = waiting.pop()
        if _file(module) not in files:
            files[_file(module)], needed = _rewritten(module)
            waiting += needed
    return files


def _rewritten(module: str) -> tuple[str, list[str]]:
    """Return the source of a module with its imports rewritten, and the modules of ldhd that it imports."""
    source = _path(module).read_text()
    lines, needed = source.splitlines(), []
    for node in reversed(ast.parse(source).body):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module == "jaxtyping":
            lines[node.lineno - 1 : node.end_lineno] = [_import("shapes", node.names)]
        elif node.module.split(".")[0] == "ldhd":
            submodules = _submodules(node.module, node.names)
            lines[node.lineno - 1 : node.end_lineno] = _modules(submodules) or [_import(_file(node.module), node.names)]
            needed += submodules or [node.module]
    return "\n".join(lines) + "\n", needed


def _modules(names: list[str]) -> list[str]:
    """Return imports of whole modules; transformers collects only files from which something is imported."""
    gathered = [f"from .{_file(name)} import __doc__ as _" for name in names]
    return gathered + [f"from . import {_file(name)} as {name.rpartition('.')[2]}" for name in names]


def _submodules(module: str, names: list[ast.alias]) -> list[str]:
    """Return what is imported from a package and is itself a module."""
    path = _path(module)
    if path.stem != "__init__":
        return []
    return [f"{module}.{alias.name}" for alias in names if (path.parent / f"{alias.name}.py").exists()]


def _import(file: str, names: list[ast.alias]) -> str:
    return f"from .{file} import " + ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in names)


def _model_config() -> str:
    fields = [
        f"    {name}: {field.annotation.__name__}"  # type: ignore[union-attr]
        + ("" if field.default is PydanticUndefined else f" = {field.default!r}")
        for name, field in ModelConfig.model_fields.items()
    ]
    top = ['"""The size of a model."""', "", "from dataclasses import dataclass", "", "", "@dataclass(frozen=True)"]
    return "\n".join([*top, "class ModelConfig:", *fields]) + "\n"


def _path(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def _file(module: str) -> str:
    return module.replace(".", "_")
