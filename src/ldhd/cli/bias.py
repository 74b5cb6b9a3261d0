"""The commands that measure what models learn: of a concept, and of a task."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ldhd.cli.options import Json, Settings, output_path, print_result
from ldhd.parsing import SEEDS, parse_range, parse_settings


def bias(
    concept: Annotated[
        str,
        Argument(
            metavar="CONCEPT", help="Names, all, diagonals, an expression such as 'x1*x2 + 3*x5', or 2^N numbers."
        ),
    ],
    model: Annotated[
        str, Option(metavar="M[,M...]", help="rf, rfmp, mlp, plaa-ape, plaa-POSITION, transformer-POSITION, .. or all.")
    ] = "transformer-rpe",
    train_scale: Annotated[int | None, Option(metavar="N0", help="Train on X_N0.")] = None,
    dimension: Annotated[str | None, Option(metavar="N", help="Evaluate on X_N, such as 8 or 6-10.")] = None,
    where: Annotated[
        str | None, Option(metavar="EXPRESSION", help="Train where this is positive, such as 'x1 + x2 + 1'.")
    ] = None,
    samples: Annotated[int | None, Option(metavar="M", help="Train on so many random ones of these points.")] = None,
    priming: Annotated[int, Option(metavar="M", help="Train on so many random points outside X_N0 too.")] = 0,
    bases: Annotated[
        str | None, Option(metavar="B[,B...]", help="concept, fourier, B(V), plaa, kernel, or embeddings.")
    ] = None,
    against: Annotated[
        list[str] | None, Option(metavar="EXPRESSION", help="Compare with this function too; repeatable.")
    ] = None,
    projection: Annotated[
        str | None, Option(metavar="V", help="Columns of V, such as '0.8,0.6', or square: for rfmp and B(V).")
    ] = None,
    width: Annotated[str | None, Option(metavar="W[,W...]", help="Widths of the model.")] = None,
    seeds: Annotated[str, Option(metavar="SEEDS", help="Such as 0-4.")] = "0-4",
    settings: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="A setting of the model; repeatable.")
    ] = None,
    out: Annotated[
        Path | None,
        output_path(metavar="FOLDER", help="Keep the results and draw figures here; nothing there runs twice."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a model on X_N0, compute the function it has learned on X_N, and say which interpolator it is."""
    from ldhd.bias.cells import make_specs, run_cells
    from ldhd.process import prepare
    from ldhd.report.bias import show_bias
    from ldhd.report.progress import watch

    specs = make_specs(
        concept,
        model,
        dimensions=None if dimension is None else parse_range(dimension, "--dimension", range(1, 65)),
        widths=None if width is None else parse_range(width, "--width"),
        settings=parse_settings(settings or []),
        bases=None if bases is None else tuple(bases.split(",")),
        against=against or [],
        projection=projection,
        common={
            "seeds": parse_range(seeds, "--seeds", SEEDS),
            "scale": train_scale,
            "where": where,
            "samples": samples,
            "priming": priming,
        },
    )
    prepare(1)
    rows = list(watch(run_cells(specs, out, strict=len(specs) == 1), len(specs), "cells"))
    print_result(*show_bias(rows, out), as_json)


def bias_task(
    task: Annotated[str, Argument(metavar="TASK", help="A task that reads one string: copy, reversal, parity, ..")],
    position: Annotated[str, Option(metavar="P[,P...]", help="Position embeddings.")] = "rpe",
    cube: Annotated[
        str, Option(metavar="WORDS|STEPS", help="words: answers as functions of the word; steps: of all tokens before.")
    ] = "words",
    train_scale: Annotated[int, Option(metavar="N0", help="Train on scales 1 .. N0.")] = 5,
    scale: Annotated[int, Option(metavar="N", help="Evaluate on all words of at most N symbols.")] = 7,
    base: Annotated[int | None, Option(metavar="B", help="Symbols, a power of two; 4 if the task has as many.")] = None,
    priming: Annotated[str, Option(metavar="M[,M...]", help="Train on so many words of scale N too.")] = "0",
    width: Annotated[str | None, Option(metavar="W[,W...]", help="Widths of the model.")] = None,
    seeds: Annotated[str, Option(metavar="SEEDS", help="Such as 0-2.")] = "0-2",
    settings: Settings = None,
    out: Annotated[
        Path | None,
        output_path(metavar="FOLDER", help="Keep the results and draw figures here; nothing there runs twice."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a Transformer on short words of a task, and say which function of the word each answer token has become."""
    from ldhd.bias.task_cells import make_specs, run_cells
    from ldhd.process import prepare
    from ldhd.report.bias_task import show_bias_task
    from ldhd.report.progress import watch

    specs = make_specs(
        task,
        position.split(","),
        cube=cube,
        train_scale=train_scale,
        scale=scale,
        base=base,
        primings=parse_range(priming, "--priming", range(10**6)),
        widths=[None] if width is None else parse_range(width, "--width"),
        settings=parse_settings(settings or []),
        chosen=parse_range(seeds, "--seeds", SEEDS),
    )
    prepare(1)
    rows = list(watch(run_cells(specs, out), len(specs), "cells"))
    print_result(*show_bias_task(rows, out), as_json)
