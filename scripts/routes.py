"""Score the packaged models by every route of `ldhd score`: python scripts/routes.py [MAX_SCALE] [TASK...]

The routes are a run, a folder of transformers, a Python function, and a program that is started for each scale.
MAX_SCALE is 100 unless given. A row for each model and route: how many of the random and of the hard instances at the
largest scale are right, and whether all scales agree with those of the run.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ldhd.evaluate.accuracy import answers
from ldhd.experiments import load_run
from ldhd.experiments.packaged import MODELS_PATH
from ldhd.score.contestants import contestant
from ldhd.score.scoring import score

HERE = Path(__file__).parent
PATIENCE = 3600.0
"""Seconds that the program has for one scale."""


def answer(prompts: list[str]) -> list[str]:
    """Answer with the packaged model of the task that the environment variable `LDHD_TASK` names."""
    _, task, model = load_run(MODELS_PATH / os.environ["LDHD_TASK"])
    return answers(model, prompts, 2 * max(map(len, prompts)), task.vocabulary)


def main(largest: int, tasks: list[str]) -> None:
    sys.path.insert(0, str(HERE))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    print("| task | route | scale | random | hard | as the run |")
    print("|---|---|---|---|---|---|")
    for task in tasks:
        os.environ["LDHD_TASK"] = task
        with tempfile.TemporaryDirectory() as folder:
            exported = f"{folder}/model"
            subprocess.run(["ldhd", "export", task, exported], check=True, stdout=subprocess.DEVNULL)
            routes = {
                "run": task,
                "transformers": f"hf:{exported}",
                "function": "python:routes:answer",
                "program": f"program:{sys.executable} {HERE / 'routes.py'} --answer",
            }
            first = None
            for route, model in routes.items():
                found = score(contestant(model, PATIENCE, trust=False), task, largest=largest)
                scales = json.dumps(found.document()["scales"])
                first = first or scales
                last = found.scales[-1]
                shares = " | ".join(
                    f"{round((share.exact or 0) * share.n)} of {share.n}" for share in (last.random, last.hard)
                )
                print(
                    f"| {task} | {route} | {last.scale} | {shares} | {'yes' if scales == first else 'no'} |", flush=True
                )


if __name__ == "__main__":
    if sys.argv[1:] == ["--answer"]:
        print("\n".join(answer(sys.stdin.read().split())))
    else:
        main(
            int(sys.argv[1]) if sys.argv[1:] else 100,
            sys.argv[2:] or sorted(path.name for path in MODELS_PATH.iterdir()),
        )
