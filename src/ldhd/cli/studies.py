"""Commands about stored studies."""

from pathlib import Path
from typing import Annotated

import typer

from ldhd.cli.options import Json


def pack(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of finished runs, such as runs.")],
    as_json: Json = False,
) -> None:
    """Pack the finished runs of a folder into few files: configs, records, learning curves and traces.

    Weights and checkpoints are dropped. Run folders are removed once the packed files were read back and agree.
    """
    from ldhd.experiments import packing
    from ldhd.report.terminal import print_result

    print_result(packing.pack(folder), as_json)


def unpack(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of a packed study, such as results/full.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to write the runs; by default in place of the study.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the runs of a packed study as folders again, without the weights that packing dropped."""
    from ldhd.experiments import packing
    from ldhd.report.terminal import print_result

    print_result(packing.unpack(study, out), as_json)
