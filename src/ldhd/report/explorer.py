"""The explorer: one HTML file in which trained models answer what a reader types, token by token, in the browser."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ldhd.evaluate.accuracy import sample_test_instances
from ldhd.experiments import RunConfig, load_run
from ldhd.files import write_bytes
from ldhd.model import GPT
from ldhd.parsing import format_range
from ldhd.positions.alibi import alibi_slopes
from ldhd.report.look import look, position_title
from ldhd.report.page import environment
from ldhd.report.terminal import Output
from ldhd.tasks import Task

EMBEDDINGS = (*("none", "absolute", "abacus", "rope", "alibi", "rpe", "rpe-square", "rpe-absolute", "latent-window"),)
"""The embeddings that `static/model.js` computes."""
SCALES = (3, 5, 10, 20, 50, 100)
"""The scales of the examples that the explorer offers, where the embeddings have a place for them."""
FIRST = 2
"""The example that is answered when the page opens."""
MOST_HARD = 3
MOST_MODELS = 2


def write_explorer(runs: Sequence[Path], out: Path, trust: bool = False) -> Output:
    """Write the HTML file `out`, in which the models of one finished run or of two answer prompts of their task."""
    if not 1 <= len(runs) <= MOST_MODELS:
        raise ValueError(f"the explorer shows one run or two, got {len(runs)}")
    if out.is_dir():
        raise ValueError(f"{out} is a folder; name the file to write, such as {out / 'explorer.html'}")
    loaded = [load_run(run, trust=trust) for run in runs]
    tasks = list(dict.fromkeys(config.task for config, *_ in loaded))
    if len(tasks) > 1:
        raise ValueError(f"both runs must be of one task, got {' and '.join(tasks)}")
    models = [model_document(*run) for run in loaded]
    examples = _examples(*loaded[0][:2])
    first = min(FIRST, len(examples) - 1)
    page = environment().get_template("explorer.html")
    text = page.render(task=tasks[0], models=models, examples=examples, first=first)
    write_bytes(out, text.encode(errors="backslashreplace"))
    names = [f"{config.label}" for config, *_ in loaded]
    document = {"explorer": str(out), "task": tasks[0], "runs": [config.hash for config, *_ in loaded]}
    return document, [f"explorer: {out} ({' and '.join(names)})"]


def model_document(config: RunConfig, task: Task, model: GPT) -> dict[str, Any]:
    """Return a trained model as the page reads it: its options, and its weights as float32 in base64."""
    if config.model_options.architecture != "transformer":
        raise ValueError(f"the explorer runs Transformers, and {config.label} is a {config.model_options.architecture}")
    terms = config.position.split("+")
    for term in terms:
        if term not in EMBEDDINGS:
            raise ValueError(f"the explorer cannot compute {term}; it has {', '.join(EMBEDDINGS)}")
    return {
        "hash": config.hash,
        "seed": config.seed,
        "title": position_title(config.position),
        "color": look(config.position).color,
        "trained": format_range(config.train_scales),
        "alphabet": task.vocabulary.characters,
        "model": config.model_options.model_dump(),
        "position": [
            {"name": term, "options": _options(term, config.position_options.get(term, {}), model)} for term in terms
        ],
        "weights": {
            name: {"shape": list(weights.shape), "data": _encoded(weights.numpy())}
            for name, weights in model.state_dict().items()
        },
    }


def _options(term: str, options: dict[str, Any], model: GPT) -> dict[str, Any]:
    """The options of an embedding; those of the slopes of ALiBi are the numbers themselves."""
    return {**options, "slopes": alibi_slopes(model.config.heads)} if term == "alibi" else options


def _encoded(weights: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(weights, dtype="<f4").tobytes()).decode()


def _examples(config: RunConfig, task: Task) -> list[dict[str, Any]]:
    """Random instances of several scales, and hard ones beyond the training scales, with their answers."""
    largest = max(config.test_scales)
    scales = [scale for scale in SCALES if scale <= largest]
    random = [sample_test_instances(task, scale, 1, config.seed)[0] for scale in scales]
    hard = task.hard(min(10, largest))[:MOST_HARD]
    named = [(f"scale {found.scale}, random", found) for found in random]
    named += [(f"scale {found.scale}, hard: {found.prompt}", found) for found in hard]
    return [{"name": name, "prompt": found.prompt, "answer": found.answer} for name, found in named]
