"""Commands about one finished run."""

from pathlib import Path
from typing import Annotated

import typer

from ldhd.cli.options import Device, Instances, Json, Run, Scales


def evaluate(
    folder: Run,
    test_scales: Annotated[str, typer.Option(metavar="SCALES", help="Such as 1-10,20,50.")],
    instances: Instances = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Test a finished run at new scales, without training."""
    from ldhd.experiments import evaluate_run
    from ldhd.parsing import parse_range
    from ldhd.report.output import Evaluation
    from ldhd.report.terminal import print_result

    scales = parse_range(test_scales, "--test-scales")
    print_result(Evaluation(*evaluate_run(folder, scales, instances, device)), as_json)


def show(
    folder: Run,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="Such as b123=")],
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """One instance: what the model writes, its first error, its anchors, and its attention on what it needs."""
    from ldhd.report.instance import trace_run
    from ldhd.report.terminal import print_result

    print_result(trace_run(folder, prompt, device), as_json)


def export(
    folder: Run,
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write; it must not exist.")],
    lm_eval: Annotated[
        bool, typer.Option("--lm-eval", help="Also write the test instances as tasks of lm-evaluation-harness.")
    ] = False,
    test_scales: Scales = None,
    instances: Instances = None,
    as_json: Json = False,
) -> None:
    """Write a finished run as a folder that Hugging Face transformers loads, with its card and its own code.

    Its card shows the run's results, or those at the scales and on the number of instances asked for.
    """
    from ldhd.hf import export_run
    from ldhd.parsing import parse_range
    from ldhd.report.terminal import print_result

    scales = None if test_scales is None else parse_range(test_scales, "--test-scales")
    print_result(export_run(folder, out, test_scales=scales, instances=instances, lm_eval=lm_eval), as_json)
