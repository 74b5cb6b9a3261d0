"""Hooks of mkdocs: the files outside `docs/` that pages link to, and the reference of the command line.

The links of a page work in the repository. A file there has the same path in the site, but for the folder `docs/`,
whose content stands at the top; so each link is resolved in the repository and written anew.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from typer import main as typer_main
from typer.cli import get_docs_for_click

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")
PAGES = ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/tuning.md")
"""Pages that stand outside `docs/` in the repository."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside `docs/`, every other file that a page links to, and the reference of the commands."""
    added = {Path(name) for name in PAGES}
    for page in (*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in PAGES)):
        targets = (_target(page, match[1]) for match in LINK.finditer(page.read_text()))
        added |= {target for target in targets if (ROOT / target).is_file() and target.parts[0] != "docs"}
    for path in sorted(added):
        files.append(File.generated(config, path.as_posix(), abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "reference/commands.md", content=_commands()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let the links of a page lead to files of the site; what is not in it keeps its text only."""
    own = Path(page.file.src_uri)
    source = ROOT / own if own.as_posix() in PAGES else ROOT / "docs" / own

    def rewritten(match: re.Match[str]) -> str:
        target = _site_path(_target(source, match[1]))
        if files.get_file_from_path(target.as_posix()) is None:
            return "]"
        return f"]({Path(os.path.relpath(target, own.parent)).as_posix()}{match[2] or ''})"

    return LINK.sub(rewritten, markdown)


def _target(page: Path, link: str) -> Path:
    """Return the path in the repository that a link of a page leads to."""
    return Path(os.path.relpath(page.parent / link, ROOT))


def _site_path(path: Path) -> Path:
    return Path(*path.parts[1:]) if path.parts[0] == "docs" else path


def _commands() -> str:
    """Return the reference of the command line, as typer writes it."""
    from ldhd.cli import app

    command = typer_main.get_command(app)
    context = command.make_context("ldhd", [], resilient_parsing=True)
    return get_docs_for_click(obj=command, ctx=context, name="ldhd", title="Commands")
