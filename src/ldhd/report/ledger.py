"""The result of `ldhd verify`: the ledger of the paper's claims."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markup import escape

from ldhd.report.terminal import plain_table
from ldhd.theory.ledger import Entry

STYLES = {"holds": "green", "holds with a correction": "yellow", "fails as printed": "red"}


@dataclass(frozen=True)
class Ledger:
    """The claims that `ldhd verify` has checked."""

    entries: Sequence[Entry]
    figures: Sequence[Path] = ()

    def document(self) -> dict[str, Any]:
        """Return every claim with its verdict and the numbers behind it."""
        return {"claims": [asdict(entry) for entry in self.entries]}

    def counts(self) -> str:
        """Return `8 hold; 14 hold with a correction; 2 fail as printed`."""
        counts = {verdict: sum(entry.verdict == verdict for entry in self.entries) for verdict in STYLES}
        return "; ".join(f"{count} {plural(verdict, count)}" for verdict, count in counts.items() if count)

    def view(self) -> Iterator[RenderableType]:
        """Yield a table with a row for each claim, then the paths of the figures."""
        table = plain_table(self.counts())
        table.caption = f"computed in {sum(entry.seconds for entry in self.entries):.1f} s; --json shows the numbers"
        table.add_column("claim", no_wrap=True)
        table.add_column("verdict", max_width=12)
        table.add_column("what the paper says, and what holds instead", ratio=1)
        for entry in self.entries:
            text = escape(entry.claim)
            if entry.correction:
                text += f"\n[bold]instead:[/bold] {escape(entry.correction)}"
            style = STYLES[entry.verdict]
            table.add_row(entry.id, f"[{style}]{entry.verdict}[/{style}]", text, end_section=True)
        yield table
        yield from (f"figure: {path}" for path in self.figures)


def plural(verdict: str, count: int) -> str:
    """Return the verdict for a count: `1 holds`, `2 hold`."""
    return verdict if count == 1 else verdict.replace("holds", "hold").replace("fails", "fail")
