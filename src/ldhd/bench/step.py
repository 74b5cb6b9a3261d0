"""A training step against that of Hugging Face's GPT-2 with the same size, weights, batch and optimizer."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ldhd.bench.hugging_face import plain, same_gpt2
from ldhd.bench.ratio import Case, in_turn, summary
from ldhd.model import MODELS, ModelConfig
from ldhd.tasks import TASKS
from ldhd.train import TrainConfig, TrainingData, new_state
from ldhd.train.data import IGNORED
from ldhd.train.loop import update

PEAK_SIZE = 1024


def step_cases(models: dict[str, tuple[int, int]] | None = None) -> list[Case]:
    """Compare steps on addition of up to 5 digits; `models` gives the batch size and the rounds of each model.

    Our step also draws its batch.
    """
    cases = []
    for name, (batch, rounds) in (models or {"base": (256, 21), "small": (256, 21), "gpt2": (16, 3)}).items():
        for loss in ("answer", "sequence"):
            config = TrainConfig(batch_size=batch, samples=4 * batch, loss=loss)
            cases += _compare(name, plain(MODELS[name]), config, rounds)
    return cases


def _compare(name: str, model: ModelConfig, config: TrainConfig, rounds: int) -> list[Case]:
    torch.manual_seed(0)
    ours, theirs = same_gpt2(model)
    device = torch.device("cpu")
    state = new_state(ours.train(), config)
    optimizer = new_state(theirs.train(), config).optimizer
    data = TrainingData(TASKS["addition"], range(1, 6), config, seed=0)
    inputs, targets = data.batch(0)

    def their_step() -> None:
        optimizer.zero_grad()
        logits = theirs(input_ids=inputs).logits
        F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED).backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), config.gradient_clip)
        optimizer.step()

    def our_step() -> None:
        update(state, data, config, 0, device)

    seconds = in_turn({"ours": our_step, "theirs": their_step}, rounds)
    what = "the answer" if config.loss == "answer" else "every token"
    shape = f"{name}: {model.layers} layers, {model.heads} heads, dimension {model.dimension}, batch {len(inputs)}, "
    shape += f"up to {inputs.shape[1]} tokens"
    case = f"training step, absolute, loss on {what}"
    result = [summary(case, shape, "Hugging Face GPT-2, eager", seconds["theirs"], seconds["ours"], "speed")]
    with FlopCounterMode(display=False) as counter:
        our_step()
    done = [counter.get_total_flops() / value for value in seconds["ours"]]
    peak = _matrix_product_peak()
    return [*result, summary(case, shape, f"product of {PEAK_SIZE} x {PEAK_SIZE}", done, [peak] * rounds, "share")]


def _matrix_product_peak() -> float:
    """Return the operations per second of a large matrix product, the best of five."""
    a, b = torch.randn(PEAK_SIZE, PEAK_SIZE), torch.randn(PEAK_SIZE, PEAK_SIZE)
    best = min(in_turn({"product": lambda: torch.mm(a, b)}, rounds=5)["product"])
    return 2 * PEAK_SIZE**3 / best
