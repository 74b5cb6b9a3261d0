"""python scripts/noise.py FOLDER [HASH ...]: the loss of trained models of copy under noise, and what their heads read.

For each run of the folder, which must still have its weights, on fresh instances of the training scales:

- the cross-entropy in nats for each token of the answer, without noise and with a dropout of 0.1 in one place;
- exact match if the weight of the token that is needed is removed in one head, for the head that matters most;
- the mean weight with which the best head attends to the token that is needed, and the same times the weights of the
  natural anchors of both tokens: what is read at a difference of anchored distances that is the same at every scale;
- exact match at twice the largest training scale by teacher forcing, as is and with zeros for the rows of R that no
  training string uses.
"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from ldhd import load_run, seeds
from ldhd.experiments.config import RunConfig
from ldhd.experiments.loading import new_model
from ldhd.model import GPT
from ldhd.model.recording import record_attention
from ldhd.positions.anchor import natural_anchor
from ldhd.tasks import Task
from ldhd.train.data import IGNORED, to_tensors
from ldhd.train.loop import live_accuracy

INSTANCES = 64
NOISE_DRAWS = 8
RATE = 0.1
PLACES = ("attention", "residual", "embedding")


def main(folder: Path, hashes: list[str]) -> None:
    noises = (f"{place} noise" for place in PLACES)
    head = ["dropout", "seed", "loss", *noises, "one entry less", "attention", "anchored", "beyond", "without rows"]
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for path in sorted(folder / name for name in hashes) if hashes else sorted(folder.iterdir()):
        if (path / "record.json").exists():
            config, task, model = load_run(path)
            if config.position == "rpe-square":  # the others have no anchors
                print(f"| {dropout_of(config)} | {config.seed} | {row(config, task, model)} |", flush=True)


def dropout_of(config: RunConfig) -> str:
    rates = {place: config.model_options.dropout_of(place) for place in PLACES}
    label = ", ".join(f"{place} {rate:g}" for place, rate in rates.items() if rate) or "none"
    return label + "".join(f", {name}" for name in ("null_key", "log_length") if getattr(config.model_options, name))


def row(config: RunConfig, task: Task, model: GPT) -> str:
    scales = config.train_scales
    losses = [loss(config, task, model, None), *(loss(config, task, model, place) for place in PLACES)]
    numbers = worst_head(task, model, scales), *reading(task, model, scales), *beyond(task, model, scales)
    return " | ".join([*(f"{value:.4f}" for value in losses), *(f"{value:.3f}" for value in numbers)])


def instances_of(task: Task, scale: int) -> list:
    stream = seeds.generator(0, "probe", scale)
    return [task.sample(scale, stream) for _ in range(INSTANCES)]


@torch.no_grad()
def loss(config: RunConfig, task: Task, model: GPT, place: str | None) -> float:
    """Return the mean over the scales of the cross-entropy of the answer, with dropout in one place or in none."""
    rates = {f"{name}_dropout": RATE if name == place else 0.0 for name in PLACES}
    noisy = new_model(config.model_copy(update={"model_options": config.model_options.model_copy(update=rates)}))
    noisy.load_state_dict(model.state_dict())
    torch.manual_seed(0)
    found = []
    for scale in config.train_scales:
        inputs, targets = to_tensors(instances_of(task, scale))
        for _ in range(NOISE_DRAWS if place else 1):
            logits = noisy(inputs, exploring=place is not None)
            found.append((scale, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)))
    return float(torch.stack([value for _, value in found]).mean())


def needed(task: Task, instances: list) -> Tensor:
    """Return which token each token of the answer needs, as rows of instance, query and key."""
    return torch.tensor(
        [
            (row, query, index)
            for row, instance in enumerate(instances)
            for query, needs in enumerate(task.needs(instance), start=len(instance.prompt) - 1)
            for index in needs.values()
            if index is not None
        ]
    )


@torch.no_grad()
def worst_head(task: Task, model: GPT, scales: tuple[int, ...]) -> float:
    """Return the mean exact match over the scales without the entry that is needed, for the head that matters most."""
    return min(
        sum(exact_without(task, model, scale, layer, head) for scale in scales) / len(scales)
        for layer in range(len(model.blocks))
        for head in range(model.config.heads)
    )


def exact_without(task: Task, model: GPT, scale: int, layer: int, head: int) -> float:
    instances = instances_of(task, scale)
    inputs, targets = to_tensors(instances)
    strings, queries, keys = needed(task, instances).T

    def remove(module: object, arguments: object, weights: Tensor) -> Tensor:
        weights = weights.clone()
        weights[strings, head, queries, keys] = 0.0
        return weights

    handle = model.blocks[layer].attention.weights.register_forward_hook(remove)
    likeliest = model(inputs, exploring=False).argmax(-1)
    handle.remove()
    return float(((likeliest == targets) | (targets == IGNORED)).all(1).float().mean())


def reading(task: Task, model: GPT, scales: tuple[int, ...]) -> tuple[float, float]:
    """Return the attention of the best head to what is needed, and what of it is measured from the natural anchors."""
    attention, anchored = [], []
    for scale in scales:
        instances = instances_of(task, scale)
        strings, queries, keys = needed(task, instances).T
        from_query, from_key = (
            torch.tensor([natural_anchor(instances[row].text, j) for row, j in zip(strings, places, strict=True)])
            for places in (queries, keys)
        )
        found = record_attention(model, to_tensors(instances)[0])
        for layer, weights in zip(found.attention, found.anchors.values(), strict=True):
            paid = layer[strings, :, queries, keys]
            attention.append(paid.mean(0))
            natural = weights[strings, :, queries, from_query] * weights[strings, :, keys, from_key]
            anchored.append((paid * natural).mean(0))
    heads = len(model.blocks), -1
    return tuple(float(torch.stack(each).view(len(scales), *heads).mean(0).max()) for each in (attention, anchored))


def beyond(task: Task, model: GPT, scales: tuple[int, ...]) -> tuple[float, float]:
    """Return exact match at twice the largest training scale, as is and without the rows of R that no training used."""
    scale, seen = 2 * max(scales), to_tensors(instances_of(task, max(scales)))[0].shape[1]
    as_is = live_accuracy(model, task, [scale], seed=0)[str(scale)]
    for block in model.blocks:
        table = block.attention.position.table.data
        middle = table.shape[1] // 2
        table[:, : max(0, middle - seen + 1)] = table[:, middle + seen :] = 0.0
    return as_is, live_accuracy(model, task, [scale], seed=0)[str(scale)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
