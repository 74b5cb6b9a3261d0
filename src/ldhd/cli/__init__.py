"""The command line: each command reads its arguments, calls the library and prints the result.

Commands are plain functions. They import what they need when they are called, so that `ldhd --help` answers at once.
"""

import inspect
import os
import shlex
import sys
from typing import Annotated

import typer

import ldhd
from ldhd.cli.bias import bias, bias_task
from ldhd.cli.new import check, new
from ldhd.cli.runs import certify, compare, evaluate, explore, export, list_, pack, report, show, unpack
from ldhd.cli.scores import leaderboard, score
from ldhd.cli.theory import bench, design, positions, predict, register, tasks, verify
from ldhd.cli.training import demo, extend, protocol, reproduce, run, sweep
from ldhd.process import Interrupted, LostPeerError, describe, one_line, warn_in_one_line

app = typer.Typer(
    name="ldhd",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A laboratory for length generalization: train on short instances, test on long ones.",
)
COMMANDS = (
    *(run, sweep, reproduce, protocol, extend, list_, compare, evaluate, show, certify, score, leaderboard),
    *(tasks, positions, new, check),
    *(predict, register, design, verify, bias, bias_task, bench, report, explore, export, pack, unpack, demo),
)
"""All commands, in the order in which `ldhd --help` lists them."""

for command in COMMANDS:
    summary = inspect.getdoc(command) or ""
    # given so, it is wrapped; typer would cut what it takes from the docstring
    short = summary.split("\n\n")[0].replace("\n", " ")
    app.command(command.__name__.rstrip("_").replace("_", "-"), short_help=short)(command)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"ldhd {ldhd.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of `ldhd` itself; the application has the help text."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input ends with one line on standard error and exit code 2."""
    warn_in_one_line()
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["ldhd", *arguments])
    try:
        code = app(args=arguments or ["--help"], standalone_mode=False, obj=command)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except (Exception, SystemExit) as error:  # a user's task may call sys.exit
        code = _exit_code(error, command)
        if code is None or os.environ.get("LDHD_DEBUG"):
            raise
    sys.exit(code if isinstance(code, int) else 0)


def _exit_code(error: BaseException, command: str) -> int | None:
    """Report in one line what was wrong with the input; return None if the error is not the user's."""
    if isinstance(error, Interrupted):
        print(f"ldhd: {one_line(str(error))}; the same command goes on from there: {command}", file=sys.stderr)
        return 130
    message = describe(error)
    if hasattr(error, "format_message"):  # typer's own errors, whichever click it carries
        message = f"{error.format_message()}{_value_of(error)}"
    if message is None:
        return None
    if os.environ.get("RANK", "0") == "0" or isinstance(error, LostPeerError):  # of torchrun's processes the first
        print(f"ldhd: error: {one_line(message)}", file=sys.stderr)
    return 2


def _value_of(error: BaseException) -> str:
    """Return `, got 'many'` for the value of an option that typer, through pydantic, could not take."""
    errors = getattr(error.__cause__, "errors", None)
    return f", got {errors()[0]['input']!r}" if errors is not None else ""
