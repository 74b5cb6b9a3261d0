"""The training loop: from one state to the next, the same whether or not it was interrupted in between."""

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ldhd import seeds
from ldhd.model import GPT
from ldhd.positions.unique import part_of_batch
from ldhd.tasks import Task
from ldhd.train import parallel
from ldhd.train.config import TrainConfig
from ldhd.train.data import IGNORED, TrainingData, to_tensors
from ldhd.train.diagnosis import diagnosis
from ldhd.train.state import State

LIVE_INSTANCES = 64
"""Instances a training scale in the accuracy shown during training."""


def train(
    state: State,
    task: Task,
    scales: Sequence[int],
    config: TrainConfig,
    seed: int,
    *,
    test_scales: Sequence[int] = (),
    on_step: Callable[[State, float], None] = lambda state, loss: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Train until `config.steps` or until `stop()`; `on_step` is called after every step with its loss.

    Accuracy at `test_scales` is measured along the way only with `config.measure_test_scales`.
    """
    data = TrainingData(task, scales, config, seed)
    device = next(state.model.parameters()).device
    while state.step < config.steps and not parallel.any_of(stop()):
        started = time.perf_counter()
        loss, norm = update(state, data, config, seed, device)
        state.step += 1
        due = state.step % config.evaluate_every == 0 or state.step == config.steps
        if due and parallel.rank() == 0:
            assert isinstance(state.model, GPT)
            state.metrics.append(
                {
                    "step": state.step,
                    "loss": loss,
                    "learning_rate": config.learning_rate * schedule(state.step - 1, config),
                    "gradient_norm": norm,
                    "accuracy": live_accuracy(state.model, task, scales, seed),
                    **(
                        {"test_accuracy": live_accuracy(state.model, task, test_scales, seed)}
                        if config.measure_test_scales and test_scales
                        else {}
                    ),
                    **diagnosis(state.model, task, max(scales), seed),
                }
            )
        state.seconds += time.perf_counter() - started
        on_step(state, loss)


def schedule(step: int, config: TrainConfig) -> float:
    """Factor of the learning rate at a step counted from 0: linear warm-up, then half a cosine down to 0."""
    total = config.schedule_steps or config.steps
    warmup = config.warmup * total
    if step < warmup:
        return min(1.0, (step + 1) / warmup)
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(total - warmup, 1)))


def live_accuracy(model: nn.Module, task: Task, scales: Sequence[int], seed: int) -> dict[str, float]:
    """Exact match at each training scale in one forward pass.

    Greedy decoding writes the whole answer exactly when every token is the most likely one after the right
    prefix, so no decoding is needed for this number.
    """
    device = next(model.parameters()).device
    instances = [
        task.sample(scale, stream)
        for scale in scales
        for stream in [seeds.generator(seed, "live", scale)]
        for _ in range(LIVE_INSTANCES)
    ]
    inputs, targets = (tensor.to(device) for tensor in to_tensors(instances))
    model.eval()
    with torch.no_grad():
        right = ((model(inputs).argmax(-1) == targets) | (targets == IGNORED)).all(dim=1).float()
    model.train()
    return {
        str(scale): value for scale, value in zip(scales, right.view(len(scales), -1).mean(1).tolist(), strict=True)
    }


def update(
    state: State, data: TrainingData, config: TrainConfig, seed: int, device: torch.device
) -> tuple[float, float]:
    """One update; the loss before it and the norm of its gradient."""
    for group in state.optimizer.param_groups:
        group["lr"] = config.learning_rate * schedule(state.step, config)
    state.model.train(state.step < (1 - config.settle) * config.steps)
    state.optimizer.zero_grad()
    total = torch.zeros((), device=device)
    # dropout and random offsets draw from the global stream: give each step its own, and leave the caller's alone
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seeds.derive(seed, "noise", state.step, *([parallel.rank()] if parallel.rank() else [])))
        for part in range(config.accumulation):
            inputs, targets = (tensor.to(device) for tensor in data.batch(state.step * config.accumulation + part))
            tokens = int((targets != IGNORED).sum()) * config.accumulation
            own = parallel.my_part(inputs)
            with part_of_batch(len(own) / (len(inputs) * config.accumulation)):
                loss = _loss(state.model, own, parallel.my_part(targets), config, device) / tokens
            loss.backward()
            total += loss.detach()
    parallel.add_up([*(p.grad for p in state.model.parameters() if p.grad is not None), total])
    norm = nn.utils.clip_grad_norm_(state.model.parameters(), config.gradient_clip).item()
    if not (math.isfinite(total.item()) and math.isfinite(norm)):
        raise FloatingPointError(
            f"at step {state.step} the loss became {total.item()} and its gradient {norm}; lower train.learning_rate"
        )
    state.optimizer.step()
    return total.item(), norm


def _loss(model: nn.Module, inputs: Tensor, targets: Tensor, config: TrainConfig, device: torch.device) -> Tensor:
    """The sum over all tokens to be predicted."""
    targets = targets.flatten()
    places = (targets != IGNORED).nonzero()[:, 0]
    with autocast(config, device):
        logits = model(inputs, places=places)
    return F.cross_entropy(logits.float(), targets[places], reduction="sum")


def autocast(config: TrainConfig, device: torch.device) -> contextlib.AbstractContextManager[Any]:
    wanted = config.precision == "bfloat16" or (
        config.precision == "auto" and device.type == "cuda" and torch.cuda.is_bf16_supported()
    )
    return torch.autocast(device.type, torch.bfloat16) if wanted else contextlib.nullcontext()
