"""The result of `ldhd verify`: the ledger of the paper's claims."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column

from ldhd.report.terminal import plain_table
from ldhd.theory.ledger import Entry

STYLES = {"holds": "green", "holds with a correction": "yellow", "fails as printed": "red"}


@dataclass(frozen=True)
class Ledger:
    """The claims that `ldhd verify` has checked."""

    entries: Sequence[Entry]
    figures: Sequence[Path] = ()

    def document(self) -> dict[str, Any]:
        return {"claims": [asdict(entry) for entry in self.entries]}

    def counts(self) -> str:
        """Return `8 hold; 14 hold with a correction; 2 fail as printed`."""
        counts = {verdict: sum(entry.verdict == verdict for entry in self.entries) for verdict in STYLES}
        return "; ".join(f"{count} {plural(verdict, count)}" for verdict, count in counts.items() if count)

    def view(self) -> Iterator[RenderableType]:
        """Yield a table with a row for each claim, then the paths of the figures."""
        text = Column("what the paper says, and what holds instead", ratio=1)
        columns = Column("claim", no_wrap=True), Column("verdict", max_width=12), text
        caption = f"computed in {sum(entry.seconds for entry in self.entries):.1f} s; --json shows the numbers"
        table = plain_table(self.counts(), columns, map(_row, self.entries), caption)
        table.show_lines = True
        yield table
        yield from (f"figure: {path}" for path in self.figures)


def plural(verdict: str, count: int) -> str:
    """Return the verdict for a count: `1 holds`, `2 hold`."""
    return verdict if count == 1 else verdict.replace("holds", "hold").replace("fails", "fail")


def _row(entry: Entry) -> tuple[str, str, str]:
    instead = f"\n[bold]instead:[/bold] {escape(entry.correction)}" if entry.correction else ""
    style = STYLES[entry.verdict]
    return entry.id, f"[{style}]{entry.verdict}[/{style}]", escape(entry.claim) + instead
