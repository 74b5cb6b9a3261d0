"""Commands about finished runs."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from ldhd.cli.options import Device, Instances, Json, Run, Scales, Trust, output_path, print_result
from ldhd.parsing import parse_range


def evaluate(
    folder: Run,
    test_scales: Annotated[str, Option(metavar="SCALES", help="Such as 1-10,20,50.")],
    instances: Instances = None,
    device: Device = "cpu",
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Test a finished run at new scales, without training."""
    from ldhd.experiments import evaluate_run
    from ldhd.report.output import show_evaluation

    scales = parse_range(test_scales, "--test-scales")
    print_result(*show_evaluation(*evaluate_run(folder, scales, instances, device, trust)), as_json)


def show(
    folder: Run,
    prompt: Annotated[str, Argument(metavar="PROMPT", help="Such as b123=")],
    device: Device = "cpu",
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """One instance: what the model writes, its first error, its anchors, and its attention on what it needs."""
    from ldhd.report.output import trace_run

    print_result(*trace_run(folder, prompt, device, trust), as_json)


def certify(
    folder: Run,
    without_heads: Annotated[
        str | None,
        Option(metavar="HEADS", help="Heads to switch off first, such as 1,7; the certificate is without them."),
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Prove a finished run right on every instance of its task, at any length, or find one that it gets wrong.

    Exit code 1 if there is a counterexample, or no certificate can be given.
    """
    from ldhd.report.certificate import certify_run
    from ldhd.report.progress import counting

    heads = () if without_heads is None else parse_range(without_heads, "--without-heads", range(1000))
    with counting("views") as on_progress:
        document, view = certify_run(folder, heads, on_progress, trust)
    print_result(document, view, as_json)
    if document["verdict"] != "certified":
        raise Exit(1)


def list_(
    folders: Annotated[
        list[Path] | None, Argument(metavar="FOLDER", help="Folders of runs, or of such folders; runs by default.")
    ] = None,
    where: Annotated[
        list[str] | None,
        Option(
            metavar="CONDITION", help="Such as task=copy, position=rpe*, 'exact>=0.9', train.steps=1000; repeatable."
        ),
    ] = None,
    sort: Annotated[
        str, Option(metavar="KEY", help="run, task, position, seed, state, fitted, scale, exact, or a setting.")
    ] = "",
    descending: Annotated[bool, Option("--descending", help="Sort from large to small.")] = False,
    as_json: Json = False,
) -> None:
    """List runs, finished or not, with their exact match at the largest scale and the settings that differ."""
    from ldhd.report.run_list import list_runs

    print_result(*list_runs(folders or [Path("runs")], where or [], sort, descending), as_json)


def compare(
    runs: Annotated[
        list[Path], Argument(metavar="RUN", help="Folders of finished runs, or STUDY/HASH of a packed study.")
    ],
    as_json: Json = False,
) -> None:
    """Show the settings in which finished runs differ, and their exact match at every scale."""
    from ldhd.report.run_list import compare_runs

    print_result(*compare_runs(runs), as_json)


def report(
    runs: Annotated[list[Path], Argument(metavar="RUNS...", help="Folders of runs, or folders of such folders.")],
    out: Annotated[Path, output_path("-o", "--out", metavar="FILE", help="The report.")] = Path("report.html"),
    ledger: Annotated[Path | None, Option(metavar="FILE", help="From `ldhd verify --json`.")] = None,
    predictions: Annotated[Path | None, Option(metavar="FILE", help="From `ldhd predict --json`.")] = None,
    bench: Annotated[list[Path] | None, Option(metavar="FILE", help="From `ldhd bench --json`; repeatable.")] = None,
    bias: Annotated[
        Path | None, Option(metavar="FOLDER", help="From `ldhd bias` or `ldhd bias-task`, with --out.")
    ] = None,
    figures: Annotated[
        Path | None, output_path(metavar="FOLDER", help="Also draw every figure here, as PNG and PDF.")
    ] = None,
    title: Annotated[str, Option(metavar="TEXT", help="Heading of the report.")] = "Length generalization",
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """One HTML file that opens offline: curves, statistics, error maps, anchors, ledger, from records alone."""
    from ldhd.report.documents import read_document
    from ldhd.report.html import write_report

    written = write_report(
        runs,
        out,
        ledger=read_document(ledger, "claims") if ledger else None,
        predictions=read_document(predictions, "predictions") if predictions else None,
        benchmarks=[read_document(path, "cases") for path in bench or []],
        bias=bias,
        title=title,
        figures=figures,
        trust=trust,
    )
    print_result(written.document() if as_json else {}, written.view(), as_json)


def explore(
    runs: Annotated[
        list[Path],
        Argument(metavar="RUN [RUN]", help="Folders of one or two finished runs of a task, or a packaged task's name."),
    ],
    out: Annotated[Path, Option("-o", "--out", metavar="FILE", help="The page.")] = Path("explorer.html"),
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """One HTML file in which trained models answer what one types, token by token, in the browser alone."""
    from ldhd.report.explorer import write_explorer

    print_result(*write_explorer(runs, out, trust), as_json)


def export(
    folder: Run,
    out: Annotated[
        Path, Argument(metavar="DIR", help="The folder to write, or with --onnx the file; it must not exist.")
    ],
    onnx: Annotated[bool, Option("--onnx", help="Write one ONNX file instead: token ids to logits.")] = False,
    lm_eval: Annotated[
        bool, Option("--lm-eval", help="Also write the test instances as tasks of lm-evaluation-harness.")
    ] = False,
    test_scales: Scales = None,
    instances: Instances = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Write a finished run as a folder that Hugging Face transformers loads, or as one ONNX file.

    The folder has the model's own code, and a card that shows the run's results, or those at the scales and on the
    number of instances asked for.
    """
    if onnx:
        if lm_eval or test_scales is not None or instances is not None:
            raise ValueError("an ONNX file has no card: --onnx goes without --lm-eval, --test-scales and --instances")
        from ldhd.onnx import export_onnx

        print_result(*export_onnx(folder, out, trust=trust), as_json)
        return
    from ldhd.hf import export_run

    scales = None if test_scales is None else parse_range(test_scales, "--test-scales")
    asked = export_run(folder, out, test_scales=scales, instances=instances, lm_eval=lm_eval, trust=trust)
    print_result(*asked, as_json)


def pack(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="Folder of finished runs, such as runs.")],
    as_json: Json = False,
) -> None:
    """Pack the finished runs of a folder into few files: configs, records, learning curves and traces.

    Weights and checkpoints are dropped. Run folders are removed once the packed files were read back and agree.
    """
    from ldhd.experiments import packing

    print_result(*packing.pack(folder), as_json)


def unpack(
    study: Annotated[Path, Argument(metavar="STUDY", help="Folder of a packed study, such as results/full.")],
    out: Annotated[
        Path | None, output_path(metavar="FOLDER", help="Where to write the runs; by default in place of the study.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the runs of a packed study as folders again, without the weights that packing dropped."""
    from ldhd.experiments import packing

    print_result(*packing.unpack(study, out), as_json)
