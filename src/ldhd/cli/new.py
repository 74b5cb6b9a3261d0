"""Commands about code of one's own: begin a task or an embedding, and check a task."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from ldhd.cli.options import Json, print_result


def new(
    kind: Annotated[str, Argument(metavar="KIND", help="task or position.")],
    name: Annotated[str, Argument(metavar="NAME", help="Its name, such as my-task.")],
    out: Annotated[Path, Option(metavar="FOLDER", help="Where to write it.")] = Path(),
    as_json: Json = False,
) -> None:
    """Write a task or an embedding to start from, with its test; both run as they are."""
    from ldhd.report.new import begin

    print_result(*begin(kind, name, out), as_json)


def check(
    task: Annotated[str, Argument(metavar="TASK", help="module:NAME, a description such as my.toml, or a name.")],
    as_json: Json = False,
) -> None:
    """Say what is wrong with a task, one line each. Exit code 1 if something is."""
    from ldhd.report.new import check_task

    document, view = check_task(task)
    print_result(document, view, as_json)
    if document["problems"]:
        raise Exit(1)
