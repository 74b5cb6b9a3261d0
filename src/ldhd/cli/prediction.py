"""Commands that predict without training."""

from pathlib import Path
from typing import Annotated

import typer

from ldhd.cli.options import Json, Scales


def predict(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="Name of a task, all, module:Class, or a description such as my.toml.")
    ],
    position: Annotated[str, typer.Option(metavar="P[,P...]", help="Names of embeddings, or all.")] = "all",
    layers: Annotated[str, typer.Option(metavar="LAYERS", help="Layers of the model, such as 1 or 1-2.")] = "1-2",
    train_scales: Scales = None,
    test_scales: Annotated[str, typer.Option(metavar="SCALES", help="Such as 1-10,20,50.")] = "1-10",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="position.X; repeatable.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the strings behind each failure.")] = False,
    measured: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Compare finished runs with what was predicted of them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say before training whether an embedding will carry a task to larger scales, and why."""
    from ldhd.experiments.predictions import predictions
    from ldhd.parsing import parse_range, parse_settings
    from ldhd.report.prediction import Predictions, compare_measured
    from ldhd.report.terminal import print_result

    found = predictions(
        [task],
        position.split(","),
        layers=parse_range(layers, "--layers"),
        train_scales=None if train_scales is None else parse_range(train_scales, "--train-scales"),
        test_scales=parse_range(test_scales, "--test-scales"),
        settings=parse_settings(settings or []),
    )
    comparisons = None if measured is None else compare_measured(measured, task)
    print_result(Predictions(list(found), comparisons, explain), as_json)


def register(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write them.")] = Path(
        "results/predictions.json"
    ),
) -> None:
    """Write down the predictions of every task with every embedding, to be committed before the runs that test them."""
    from ldhd.experiments.predictions import registered_count, registered_matrix
    from ldhd.report.prediction import write_register
    from ldhd.report.progress import watch

    file.parent.mkdir(parents=True, exist_ok=True)  # before the minutes that it takes
    named = list(watch(registered_matrix(), registered_count(), "predictions"))
    write_register(file, named)
    print(f"{len(named)} predictions: {file}")


def design(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="Name of a task, module:Class, or a description such as my.toml.")
    ],
    layers: Annotated[int, typer.Option(min=1, max=1000, help="Layers of the model.")] = 1,
    train_scales: Scales = None,
    test_scales: Annotated[str, typer.Option(metavar="SCALES", help="Such as 1-10.")] = "1-10",
    as_json: Json = False,
) -> None:
    """What an embedding for this task must be able to tell apart, and which embeddings do."""
    from ldhd.experiments.predictions import designed
    from ldhd.parsing import parse_range
    from ldhd.report.prediction import DesignResult
    from ldhd.report.terminal import print_result

    scales = None if train_scales is None else parse_range(train_scales, "--train-scales")
    print_result(DesignResult(*designed(task, scales, parse_range(test_scales, "--test-scales"), layers)), as_json)
