"""Commands that list what there is."""

from typing import Annotated

import typer

from ldhd.cli.options import Json


def tasks(
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="A task or module:Class; all by default.")
    ] = None,
    scale: Annotated[int, typer.Option(min=1, max=100_000, help="Scale of the examples.")] = 3,
    count: Annotated[int, typer.Option(min=1, max=100_000, help="How many examples of one task.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the examples.")] = 0,
    as_json: Json = False,
) -> None:
    """The tasks, with worked examples."""
    from ldhd.report.listing import TaskExamples, TaskList
    from ldhd.report.terminal import print_result

    print_result(TaskList(scale, seed) if task is None else TaskExamples(task, scale, count, seed), as_json)


def positions(as_json: Json = False) -> None:
    """The position embeddings and their options."""
    from ldhd.report.listing import PositionList
    from ldhd.report.terminal import print_result

    print_result(PositionList(), as_json)
