"""The command that checks the paper's claims."""

from pathlib import Path
from typing import Annotated

import typer

from ldhd.cli.options import Json


def verify(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="[CLAIM]...", help="Such as theorem-2; all by default.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw the pictures of the theory here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The ledger of the paper's claims, computed: what holds, what holds corrected, what fails."""
    from ldhd.report.figures.theory import draw_theory
    from ldhd.report.ledger import Ledger
    from ldhd.report.progress import watch
    from ldhd.report.terminal import print_result
    from ldhd.theory.ledger import CLAIMS, verify

    found = verify(claims or ())
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    entries = list(watch(found, len(claims or CLAIMS), "claims"))
    print_result(Ledger(entries, draw_theory(figures) if figures is not None else []), as_json)
