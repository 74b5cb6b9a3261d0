"""Printing of results, as JSON or in the terminal. It imports nothing that takes time."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from rich import box
from rich.console import Console, RenderableType
from rich.table import Column, Table

PIPE_WIDTH = 160
"""Width of what goes to a file or a pipe, in characters."""


class Result(Protocol):
    """The result of a command."""

    def document(self) -> dict[str, Any]:
        """Return the result as `--json` prints it."""

    def view(self) -> Iterable[RenderableType]:
        """Yield what the terminal shows; a string is one plain line, without markup."""


def print_result(result: Result, as_json: bool) -> None:
    """Print the document of a result, or its view."""
    if as_json:
        print_view(result.document())
        return
    for part in result.view():
        print(part) if isinstance(part, str) else print_view(part)


def print_view(view: RenderableType | dict[str, Any]) -> None:
    """Print a dict as JSON, everything else as rich renders it."""
    if isinstance(view, dict):
        print(json.dumps(view, indent=2))
        return
    screen = console()
    (screen if screen.is_terminal else console(width=PIPE_WIDTH)).print(view)


def console(**options: Any) -> Console:
    """Return a console that prints `module:NAME` as it is rather than as an emoji."""
    return Console(emoji=False, **options)


def plain_table(
    title: str | None,
    columns: Sequence[str | Column],
    rows: Iterable[Sequence[object]] = (),
    caption: str | None = None,
) -> Table:
    """Return a table that has a line under its header only; a column may also be given as rich's own `Column`."""
    style: Any = {"title_justify": "left", "caption_justify": "left", "box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0)}
    table = Table(*columns, title=title, caption=caption, **style)
    for row in rows:
        table.add_row(*map(str, row))
    return table


def folding(*names: str) -> list[Column]:
    """Return columns that break long words rather than cut them."""
    return [Column(name, overflow="fold") for name in names]


def numeric(*names: str) -> list[Column]:
    """Return columns that are aligned to the right."""
    return [Column(name, justify="right") for name in names]
