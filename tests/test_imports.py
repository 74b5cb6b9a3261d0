"""Imports point one way; see the annotated tree in CONTRIBUTING.md."""

import ast
from pathlib import Path

import pytest

import ldhd

SOURCE = Path(ldhd.__file__).parent
LEVELS = [
    {"seeds", "parsing", "process", "statistics"},
    {"names", "files", "lease"},
    {"tensors"},
    {"boolean", "tasks", "positions"},
    {"model"},
    {"train", "evaluate", "predict", "theory"},
    {"certify"},
    {"experiments"},
    {"sweep", "bias"},
    {"bench", "templates"},
    {"report"},
    {"hf", "onnx"},
    {"score"},
    {"cli"},
    {"__main__"},
]
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}
ALONE = {"boolean": {"boolean"}, "positions": {"positions"}, "predict": {"predict", "boolean", "tasks", "positions"}}
"""Parts that import only these."""


def imported_parts(path: Path) -> set[str]:
    """The parts of ldhd a file imports, wherever in the file it does so."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path} imports relatively"
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} if node.module != "ldhd" else {f"ldhd.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("ldhd.")}


FILES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    assert part in LEVEL, f"{part} has no level: add it to this test"
    for other in imported_parts(path):
        if other == "__version__":
            continue
        assert other == part or LEVEL[other] < LEVEL[part], f"{part} imports {other}"
        assert other in ALONE.get(part, {other}), f"{part} must not import {other}"


def test_help_does_not_import_torch():
    code = "import sys, ldhd.cli; print('torch' in sys.modules)"
    import subprocess
    import sys

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_public_names_exist():
    for name in ldhd.__all__:
        assert getattr(ldhd, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        ldhd.absent  # noqa: B018
