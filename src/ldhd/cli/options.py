"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the runs.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run, such as runs/1a2b3c.")]
Scales = Annotated[str | None, typer.Option(metavar="SCALES", help="Such as 1-10,20,50.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="position.X, model.X, train.X or test_instances; repeatable."),
]
Device = Annotated[str, typer.Option(metavar="DEVICE", help="cpu, cuda, cuda:INDEX or mps.")]
Workers = Annotated[int | None, typer.Option(min=1, max=1024, help="Runs at once; one for each core by default.")]
Threads = Annotated[int, typer.Option(min=1, max=1024, help="Threads of each run.")]
Instances = Annotated[
    int | None, typer.Option(min=1, max=1_000_000, help="Instances a scale; as in the run by default.")
]
