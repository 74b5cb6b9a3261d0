"""The training loop: from one state to the next, the same whether or not it was interrupted in between."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ldhd import seeds
from ldhd.model import GPT
from ldhd.model.packing import everything, pack
from ldhd.tasks import Task
from ldhd.train import parallel
from ldhd.train.config import TrainConfig
from ldhd.train.data import IGNORED, TrainingData, to_tensors
from ldhd.train.diagnosis import diagnosis
from ldhd.train.precision import autocast
from ldhd.train.state import State

LIVE_INSTANCES = 64
"""Instances of each scale in the accuracy measured during training."""


class Phase(Enum):
    """A phase of training: first the model explores, then it is fine-tuned as it will be tested.

    While it explores, anchors that are hard in tests are soft, and dropout, the sharpness of attention and the
    visibility of distant keys are random. In the fine-tuning phase nothing is random, and hard anchors stay where they
    are, since they get no gradient.
    """

    EXPLORE = "explore"
    FINETUNE = "finetune"

    @staticmethod
    def of(step: int, config: TrainConfig) -> "Phase":
        """Return the phase of a step, counted from 0; `config.settle` is the fine-tuning phase's share of the steps."""
        return Phase.EXPLORE if step < (1 - config.settle) * config.steps else Phase.FINETUNE


@dataclass(frozen=True)
class Update:
    """The loss before an update, in its two terms, and the norm of the gradient."""

    cross_entropy: float
    penalty: float
    gradient_norm: float

    @property
    def loss(self) -> float:
        """What is optimised."""
        return self.cross_entropy + self.penalty


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
        done = update(state, data, config, seed, device)
        state.step += 1
        due = state.step % config.evaluate_every == 0 or state.step == config.steps
        if due and parallel.rank() == 0:
            assert isinstance(state.model, GPT)
            state.metrics.append(
                {
                    "step": state.step,
                    "loss": done.loss,
                    "cross_entropy": done.cross_entropy,
                    "penalty": done.penalty,
                    "learning_rate": config.learning_rate * schedule(state.step - 1, config),
                    "gradient_norm": done.gradient_norm,
                    "precision": state.precision,
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
        on_step(state, done.loss)


def schedule(step: int, config: TrainConfig) -> float:
    """Return the factor of the learning rate at a step counted from 0: linear warm-up, then half a cosine down to 0."""
    total = config.schedule_steps or config.steps
    warmup = config.warmup * total
    if step < warmup:
        return min(1.0, (step + 1) / warmup)
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(total - warmup, 1)))


def live_accuracy(model: nn.Module, task: Task, scales: Sequence[int], seed: int) -> dict[str, float]:
    """Return the exact match at each scale, by one forward pass.

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
    inputs, targets = (tensor.to(device) for tensor in to_tensors(instances, vocabulary=task.vocabulary))
    with torch.no_grad():
        likeliest = model(inputs, exploring=False).argmax(-1)
    right = ((likeliest == targets) | (targets == IGNORED)).all(dim=1).float()
    return {
        str(scale): value for scale, value in zip(scales, right.view(len(scales), -1).mean(1).tolist(), strict=True)
    }


def update(state: State, data: TrainingData, config: TrainConfig, seed: int, device: torch.device) -> Update:
    """Do one update of the weights."""
    for group in state.optimizer.param_groups:
        group["lr"] = config.learning_rate * schedule(state.step, config)
    state.optimizer.zero_grad()
    terms = torch.zeros(2, device=device)
    noise = seeds.derive(seed, "noise", state.step, *([parallel.rank()] if parallel.rank() else []))
    generator = torch.Generator(device).manual_seed(noise)
    # dropout draws from the global stream: each step has a stream of its own, and the caller's is left alone
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        _seed_global_stream(noise, device)
        for part in range(config.accumulation):
            inputs, targets = data.batch(state.step * config.accumulation + part)
            found = _loss_terms(state, inputs, targets, config, generator)
            found.sum().backward()
            terms += found.detach()
    parallel.sum_over_processes([*(p.grad for p in state.model.parameters() if p.grad is not None), terms])
    norm = nn.utils.clip_grad_norm_(state.model.parameters(), config.gradient_clip).item()
    cross_entropy, penalty = terms.tolist()
    done = Update(cross_entropy, penalty, norm)
    if not (math.isfinite(done.loss) and math.isfinite(norm)):
        raise FloatingPointError(
            f"at step {state.step} the loss became {done.loss} and its gradient {norm}; lower train.learning_rate"
        )
    state.optimizer.step()
    return done


def _seed_global_stream(seed: int, device: torch.device) -> None:
    """Seed the stream of the CPU and that of `device`: `torch.manual_seed` also asks for devices that are not there."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)


def _loss_terms(
    state: State, inputs: Tensor, targets: Tensor, config: TrainConfig, generator: torch.Generator
) -> Float[Tensor, "2"]:
    """Return this process's share of cross-entropy and penalty of a batch, so that both add up to means of the step.

    The cross-entropy is averaged over the tokens to be predicted. A penalty is a mean over the sequences it is computed
    from and counts by their share of those of the step.
    """
    device = generator.device
    own, wanted = parallel.own_rows(inputs), parallel.own_rows(targets).flatten()
    places = (wanted != IGNORED).nonzero()[:, 0]
    model = state.model
    assert isinstance(model, GPT)
    # on a GPU fewer calls count for more than less padding
    grouped = device.type == "cpu" and model.packable
    strings, length = own.shape
    packing = pack(places, strings, length, model.config) if grouped else everything(strings, length, places.to(device))
    penalties: list[Tensor] = []
    with autocast(state.precision, device):
        logits = model(
            own.to(device),
            packing=packing,
            exploring=Phase.of(state.step, config) is Phase.EXPLORE,
            generator=generator,
            penalties=penalties,
        )
    cross_entropy = F.cross_entropy(logits.float(), wanted[places].to(device), reduction="sum")
    tokens = int((targets != IGNORED).sum()) * config.accumulation
    share = len(own) / (len(inputs) * config.accumulation)
    penalty = torch.stack(penalties).sum() if penalties else torch.zeros((), device=device)
    return torch.stack([cross_entropy / tokens, share * penalty])
