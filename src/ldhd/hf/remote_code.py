"""The code in an exported folder, so that the model loads where ldhd is not installed.

It is made of ldhd's own files when the folder is written: each module `ldhd.a.b` that the model needs becomes a file
`ldhd_a_b.py`, with imports from its neighbours. Two packages need not be installed: shapes are
annotated without jaxtyping, and the size of a model, which was checked when it was trained, is a plain dataclass.
The code imports nothing by a name from `config.json`: embeddings are looked up among those of ldhd.
"""

import inspect
import re
from pathlib import Path

from pydantic_core import PydanticUndefined

from ldhd.files import write_bytes
from ldhd.model import ModelConfig

ROOTS = {
    "AutoConfig": ("ldhd.hf.configuration", "LdhdConfig"),
    "AutoModelForCausalLM": ("ldhd.hf.modeling", "LdhdForCausalLM"),
}

IMPORT = re.compile(r"^from (ldhd[\w.]*|jaxtyping) import (.+)$", re.MULTILINE)

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
    """Write every file that the model needs: the roots and everything they import from ldhd."""
    files = {"shapes": SHAPES, _file("ldhd.model.config"): _model_config()}
    waiting = [module for module, _ in ROOTS.values()]
    while waiting:
        module = waiting.pop()
        if _file(module) not in files:
            files[_file(module)], needed = _rewritten(module)
            waiting += needed
    for name, text in files.items():
        write_bytes(folder / f"{name}.py", text.encode())


def _rewritten(module: str) -> tuple[str, list[str]]:
    """Return the source of a module with its imports rewritten, and the modules of ldhd that it imports."""
    needed: list[str] = []

    def rewrite(found: re.Match[str]) -> str:
        source, names = found.groups()
        if source == "jaxtyping":
            return f"from .shapes import {names}"
        modules = {name: f"{source}.{name}" for name in names.split(", ") if (_path(source) / f"{name}.py").exists()}
        needed.extend(modules.values() or [source])
        if not modules:
            return f"from .{_file(source)} import {names}"
        # transformers collects only files from which something is imported
        collected = [f"from .{_file(path)} import __doc__ as _" for path in modules.values()]
        return "\n".join([*collected, *(f"from . import {_file(path)} as {name}" for name, path in modules.items())])

    path = _path(module)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return IMPORT.sub(rewrite, file.read_text()), needed


def _model_config() -> str:
    fields = [
        f"    {name}: Any" + ("" if field.default is PydanticUndefined else f" = {field.default!r}")
        for name, field in ModelConfig.model_fields.items()
    ]
    top = [
        '"""The size of a model."""',
        "",
        "from dataclasses import dataclass",
        "from typing import Any, Literal",
        "",
        "",
        "@dataclass(frozen=True, kw_only=True)",  # as in pydantic, a field without a default may follow one that has it
    ]
    return "\n".join([*top, "class ModelConfig:", *fields, "", inspect.getsource(ModelConfig.dropout_of)])


def _path(module: str) -> Path:
    """Return the folder of a package, or that of a module's file with the module's name."""
    return Path(__file__).parents[2].joinpath(*module.split("."))


def _file(module: str) -> str:
    return module.replace(".", "_")
