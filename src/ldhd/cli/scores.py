"""Commands that score any model and compare scores."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ldhd.cli.completion import task_names
from ldhd.cli.options import Json, output_path, print_result


def score(
    model: Annotated[
        str,
        Argument(
            metavar="MODEL",
            help="Folder of a run or a packaged task, hf:FOLDER, python:module:function or program:COMMAND.",
        ),
    ],
    task: Annotated[str, Option(metavar="TASK", help="Name of a built-in task.", autocompletion=task_names)],
    max_scale: Annotated[int, Option(min=1, help="Leave larger scales of the suite out.")] = 1000,
    trained_to: Annotated[
        int | None, Option(min=1, help="Largest training scale of the model; the run's or the task's by default.")
    ] = None,
    timeout: Annotated[float, Option(min=0.1, help="Seconds that a program has for one scale.")] = 600.0,
    trust: Annotated[
        bool, Option("--trust", help="Run the code that an hf: folder or a stored run brings along.")
    ] = False,
    out: Annotated[Path | None, output_path("-o", "--out", metavar="FILE", help="Also write the JSON here.")] = None,
    as_json: Json = False,
) -> None:
    """Exact match of any model on a fixed suite of random and hard instances: docs/score.md."""
    from ldhd.files import write_value
    from ldhd.report.progress import counting
    from ldhd.score.contestants import contestant
    from ldhd.score.scoring import score as score_model
    from ldhd.score.show import show_score

    with counting("scales") as on_progress:
        found = score_model(
            contestant(model, timeout, trust), task, largest=max_scale, trained_to=trained_to, on_progress=on_progress
        )
    if out is not None:
        write_value(out, found.document())
    print_result(*show_score(found), as_json)


def leaderboard(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="Folder of JSON files from `ldhd score`.")] = Path(
        "results/scores"
    ),
    out: Annotated[Path, output_path("-o", "--out", metavar="FILE", help="The page.")] = Path("leaderboard.md"),
    as_json: Json = False,
) -> None:
    """Write the stored scores as one page, a table for each task."""
    from ldhd.files import write_bytes
    from ldhd.score.show import leaderboard as page_of

    text, count = page_of(folder)
    write_bytes(out, text.encode())
    print_result({"page": str(out), "scores": count}, [f"{count} scores: {out}"], as_json)
