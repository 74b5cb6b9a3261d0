"""Printing of results, as JSON or in the terminal, and of the numbers in them. It imports nothing that takes time."""

import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Column, Table

from ldhd.statistics import Mean, Share

PIPE_WIDTH = 160
"""Width of what goes to a file or a pipe, in characters."""

View = Iterable[RenderableType]
"""What the terminal shows of a result; a string is one plain line, without markup."""
Output = tuple[dict[str, Any], View]
"""The result of a command: the document that `--json` prints, and its view."""


def print_result(document: dict[str, Any], view: View, as_json: bool) -> None:
    """Print the document of a result, or its view."""
    if as_json:
        print(json.dumps(document, indent=2))
        return
    screen = console() if console().is_terminal else console(width=PIPE_WIDTH)
    for part in view:
        if isinstance(part, str):
            print(_wrapped(part, screen.width) if screen.is_terminal else part)
        elif isinstance(part, Table):
            _print_table(part, screen)
        else:
            screen.print(part)


def _print_table(table: Table, screen: Console) -> None:
    """Print a table with its title and its caption in the width of the screen; rich would wrap them to the table's."""
    title, caption, table.title, table.caption = table.title, table.caption, None, None
    if title:
        screen.print(title, style="table.title", highlight=False)
    screen.print(table)
    if caption:
        screen.print(caption, style="table.caption", highlight=False)


def _wrapped(text: str, width: int) -> str:
    """Return a text whose lines are wrapped at spaces; what is left of a line is indented by two spaces more."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())] + "  "
        options: Any = {"break_long_words": False, "break_on_hyphens": False, "subsequent_indent": indent}
        lines += [line] if len(line) <= width else textwrap.wrap(line, width, **options)
    return "\n".join(lines)


def console(**options: Any) -> Console:
    """Return a console that prints `module:NAME` as it is rather than as an emoji."""
    return Console(emoji=False, **options)


def plain_table(
    title: str | None, columns: Sequence[str | Column], rows: Iterable[Sequence[object]] = (), caption: str = ""
) -> Table:
    """Return a table that has a line under its header only; a column may also be given as rich's own `Column`.

    Where the terminal is too narrow, words are broken rather than cut.
    """
    style: Any = {"title_justify": "left", "caption_justify": "left", "box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0)}
    whole = [Column(column, overflow="fold") if isinstance(column, str) else column for column in columns]
    table = Table(*whole, title=title and escape(title), caption=escape(caption) or None, **style)
    for row in rows:
        table.add_row(*map(str, row))
    return table


def folding(*names: str) -> list[Column]:
    """Return columns that break long words rather than cut them."""
    return [Column(name, overflow="fold") for name in names]


def numeric(*names: str) -> list[Column]:
    """Return columns that are aligned to the right."""
    return [Column(name, justify="right", overflow="fold") for name in names]


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 run`, `2 runs`."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """Write a share in % with at most one decimal; it is never rounded up to 100 or down to 0."""
    value = round(100 * share, 1)
    if (value == 100 and share < 1) or (value == 0 and share > 0):
        value = 99.9 if share > 0.5 else 0.1
    return f"{value:g}"


def success_share(share: Share) -> str:
    """Write how many seeds succeed, with the interval of their share in per cent: `3/5 (23-88)`."""
    return f"{share.successes}/{share.n} ({percent(share.low)}-{percent(share.high)})"


def bounds(interval: Mean | Share, dash: str = "-") -> str:
    """Write the two ends of an interval in per cent; seeds that are all equal say nothing about its width."""
    if interval.low is None or interval.high is None:
        return "one seed"
    if isinstance(interval, Mean) and interval.low == interval.high:
        return "all equal"
    return f"{percent(interval.low)}{dash}{percent(interval.high)}"
