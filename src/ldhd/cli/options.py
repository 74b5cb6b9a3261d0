"""Arguments and options that several commands share, and the printing of their results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option

if TYPE_CHECKING:
    from ldhd.report.terminal import View


def _named(text: str) -> Path:
    if not text:
        raise BadParameter("a file or a folder to write needs a name, got ''")
    return Path(text)


def output_path(*names: str, metavar: str, help: str) -> Any:
    """Return the option of a file or a folder that is written."""
    return Option(*names, metavar=metavar, help=help, parser=_named)


Json = Annotated[bool, Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[Path, output_path(metavar="FOLDER", help="Folder of the runs.")]
Run = Annotated[
    Path,
    Argument(
        metavar="RUN", help="Folder of a finished run, such as runs/1a2b3c, or a task whose trained model is packaged."
    ),
]
Scales = Annotated[str | None, Option(metavar="SCALES", help="Such as 1-10,20,50.")]
Settings = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="position.X, model.X, train.X or test_instances; repeatable."),
]
Log = Annotated[
    str | None, Option(metavar="WHERE", help="Also log live with tensorboard, wandb or trackio, extras of these names.")
]
Device = Annotated[str, Option(metavar="DEVICE", help="cpu, cuda, cuda:INDEX or mps.")]
Workers = Annotated[int | None, Option(min=1, max=1024, help="Runs at once; one for each core by default.")]
Threads = Annotated[int, Option(min=1, max=1024, help="Threads of each run.")]
Trust = Annotated[bool, Option("--trust", help="Import the code of its own, module:NAME, that a stored run names.")]
Instances = Annotated[int | None, Option(min=1, max=1_000_000, help="Instances a scale; as in the run by default.")]


def print_result(document: dict[str, Any], view: "View", as_json: bool) -> None:
    """Print the document of a result as JSON, or its view."""
    from ldhd.report import terminal

    terminal.print_result(document, view, as_json)
