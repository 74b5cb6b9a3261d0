"""The ledger of the paper's claims in the terminal."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.markup import escape
from rich.table import Table

from ldhd.report.terminal import plain_table
from ldhd.theory.ledger import Entry

STYLES = {"holds": "green", "holds with a correction": "yellow", "fails as printed": "red"}


def ledger_json(entries: Sequence[Entry]) -> dict[str, Any]:
    return {"claims": [asdict(entry) for entry in entries]}


def ledger_counts(entries: Sequence[Entry]) -> str:
    """`8 hold; 14 hold with a correction; 2 fail as printed`."""
    counts = {verdict: sum(entry.verdict == verdict for entry in entries) for verdict in STYLES}
    return "; ".join(f"{count} {plural(verdict, count)}" for verdict, count in counts.items() if count)


def ledger_table(entries: Sequence[Entry]) -> Table:
    """A row for each claim; the numbers behind a verdict are in the JSON."""
    table = plain_table(ledger_counts(entries))
    table.caption = f"computed in {sum(entry.seconds for entry in entries):.1f} s; --json shows the numbers"
    table.add_column("claim", no_wrap=True)
    table.add_column("verdict", max_width=12)
    table.add_column("what the paper says, and what holds instead", ratio=1)
    for entry in entries:
        text = escape(entry.claim)
        if entry.correction:
            text += f"\n[bold]instead:[/bold] {escape(entry.correction)}"
        style = STYLES[entry.verdict]
        table.add_row(entry.id, f"[{style}]{entry.verdict}[/{style}]", text, end_section=True)
    return table


def plural(verdict: str, count: int) -> str:
    """2 hold, 1 holds."""
    return verdict if count == 1 else verdict.replace("holds", "hold").replace("fails", "fail")
