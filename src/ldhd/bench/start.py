"""How much processor time commands take to start that read a finished run, beside the import of torch."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ldhd.bench.ratio import Case, clock_of_commands, in_turn, within
from ldhd.experiments import make_config, run

LIMIT_SECONDS = 0.2
"""The limit on what a command takes in addition to the import of torch."""


def start_cases(rounds: int = 7) -> list[Case]:
    """Compare the limit with the time of each command on a tiny model, less the time that `import torch` takes."""
    with tempfile.TemporaryDirectory() as name:
        settings = {"model.dimension": 16, "train.samples": 10, "train.batch_size": 2, "test_instances": 1}
        config = make_config("copy", "rpe-square", steps=1, test_scales=(1,), settings=settings)
        run(config, Path(name))
        folder = str(Path(name) / config.hash)
        commands = {
            "show": ("-m", "ldhd", "show", folder, "b1="),
            "evaluate": ("-m", "ldhd", "evaluate", folder, "--test-scales", "1", "--instances", "1"),
            "torch": ("-c", "import torch"),
        }
        seconds = in_turn({key: _command(arguments) for key, arguments in commands.items()}, rounds, clock_of_commands)
    return [
        within(
            f"start of {command}, without torch",
            "a tiny model",
            LIMIT_SECONDS,
            [max(own - torch, 1e-3) for own, torch in zip(seconds[command], seconds["torch"], strict=True)],
        )
        for command in ("show", "evaluate")
    ]


def _command(arguments: tuple[str, ...]) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, timeout=120)
