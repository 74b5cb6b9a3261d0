"""How things are printed. It imports nothing that takes time."""

import json
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

PIPE_WIDTH = 160
"""Columns of a table that goes to a file or a pipe."""


def print_view(view: RenderableType | dict[str, Any]) -> None:
    """JSON if it is a dict, else as rich renders it."""
    if isinstance(view, dict):
        print(json.dumps(view, indent=2))
        return
    screen = console()
    (screen if screen.is_terminal else console(width=PIPE_WIDTH)).print(view)


def console(**given: Any) -> Console:
    """A task called `module:NAME` may stand before a colon, and is no emoji."""
    return Console(emoji=False, **given)


def plain_table(title: str | None = None) -> Table:
    """A table with a line under its header only."""
    return Table(title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
