"""A training step against those of other libraries, with the same size, batch and optimizer."""

from collections.abc import Callable
from importlib.util import find_spec

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from ldhd.bench.hugging_face import plain, same_gpt2
from ldhd.bench.ratio import Case, in_turn, summary
from ldhd.model import GPT, MODELS, ModelConfig
from ldhd.positions import RPESquare
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import VOCABULARY_SIZE
from ldhd.train import TrainConfig, TrainingData, new_state
from ldhd.train.data import IGNORED
from ldhd.train.loop import update
from ldhd.train.precision import Precision

HUGGING_FACE, X_TRANSFORMERS = "Hugging Face GPT-2, eager", "x-transformers, T5's bias"
PEAK_SIZE = 1024

PROBLEMS = {("copy", "small"): (256, 21), ("addition", "base"): (256, 21), ("addition", "gpt2"): (16, 3)}
"""Task and model -> batch size and rounds."""

PRECISION_PROBLEMS = {"small": (256, 21), "base": (256, 21), "gpt2": (64, 3)}
"""Model -> batch size and rounds, to compare the arithmetic of training on copy."""


def step_cases(
    problems: dict[tuple[str, str], tuple[int, int]] = PROBLEMS,
    precision_problems: dict[str, tuple[int, int]] = PRECISION_PROBLEMS,
) -> list[Case]:
    """Compare steps on instances of scales 1 to 5; our steps also draw their batches.

    The loss is on the answer, or on every token. x-transformers takes part if it is installed. All compute in float32;
    then our steps in bfloat16 are compared with those in float32.
    """
    cases = []
    for (task, name), (batch, rounds) in problems.items():
        for loss in ("answer", "sequence"):
            config = TrainConfig(batch_size=batch, samples=4 * batch, loss=loss, precision="float32")
            cases += _compare(task, name, plain(MODELS[name]), config, rounds)
    return cases + [_precision_case(name, *problem) for name, problem in precision_problems.items()]


def _precision_case(name: str, batch: int, rounds: int) -> Case:
    """Compare training steps in bfloat16 with steps of the same model in float32."""
    config, model = TrainConfig(batch_size=batch, samples=4 * batch), plain(MODELS[name])
    data = TrainingData(TASKS["copy"], range(1, 6), config, seed=0)
    state = new_state(GPT(model, VOCABULARY_SIZE, RPESquare).train(), config)

    def step(precision: Precision) -> None:
        state.precision = precision
        update(state, data, config, 0, torch.device("cpu"))

    seconds = in_turn({"float32": lambda: step("float32"), "bfloat16": lambda: step("bfloat16")}, rounds)
    shape = f"copy, {name}: {model.layers} layers, {model.heads} heads, dimension {model.dimension}, batch {batch}"
    case = "training step, rpe-square, bfloat16"
    return summary(case, shape, "float32", seconds["float32"], seconds["bfloat16"], "speed")


def _compare(task: str, name: str, model: ModelConfig, config: TrainConfig, rounds: int) -> list[Case]:
    torch.manual_seed(0)
    data = TrainingData(TASKS[task], range(1, 6), config, seed=0)
    batch = data.batch(0)
    gpt, gpt2 = same_gpt2(model)
    ours = {"absolute": gpt, "rpe-square": GPT(model, VOCABULARY_SIZE, RPESquare)}
    steps = {position: _our_step(network, data, config) for position, network in ours.items()}
    theirs = {HUGGING_FACE: _their_step(gpt2, lambda tokens: gpt2(input_ids=tokens).logits, batch, config)}
    if find_spec("x_transformers") is not None:
        network = _x_transformer(model)
        theirs[X_TRANSFORMERS] = _their_step(network, network, batch, config)
    seconds = in_turn({**steps, **theirs}, rounds)
    shape = f"{task}, {name}: {model.layers} layers, {model.heads} heads, dimension {model.dimension}, "
    shape += f"batch {len(batch[0])}, up to {batch[0].shape[1]} tokens"
    what = "the answer" if config.loss == "answer" else "every token"
    cases = [
        summary(f"training step, {own}, loss on {what}", shape, other, seconds[other], seconds[own], "speed")
        for own in steps
        for other in theirs
    ]
    with FlopCounterMode(display=False) as counter:
        steps["absolute"]()
    done = [counter.get_total_flops() / value for value in seconds["absolute"]]
    peak, against = _matrix_product_peak(), f"product of {PEAK_SIZE} x {PEAK_SIZE}"
    case = f"training step, absolute, loss on {what}"
    return [*cases, summary(case, shape, against, done, [peak] * rounds, "share")]


def _our_step(model: GPT, data: TrainingData, config: TrainConfig) -> Callable[[], object]:
    state = new_state(model.train(), config)
    return lambda: update(state, data, config, 0, torch.device("cpu"))


def _their_step(
    model: nn.Module, logits: Callable[[Tensor], Tensor], batch: tuple[Tensor, Tensor], config: TrainConfig
) -> Callable[[], None]:
    optimizer = new_state(model.train(), config).optimizer
    inputs, targets = batch

    def act() -> None:
        optimizer.zero_grad()
        F.cross_entropy(logits(inputs).flatten(0, 1), targets.flatten(), ignore_index=IGNORED).backward()
        nn.utils.clip_grad_norm_(model.parameters(), config.gradient_clip)
        optimizer.step()

    return act


def _x_transformer(model: ModelConfig) -> nn.Module:
    """A decoder of x-transformers with T5's relative bias and tied embeddings."""
    from x_transformers import Decoder, TransformerWrapper

    layers = Decoder(
        dim=model.dimension,
        depth=model.layers,
        heads=model.heads,
        attn_dim_head=model.dimension // model.heads,
        rel_pos_bias=True,
    )
    network: nn.Module = TransformerWrapper(
        num_tokens=VOCABULARY_SIZE, max_seq_len=1024, use_abs_pos_emb=False, tie_embedding=True, attn_layers=layers
    )
    return network


def _matrix_product_peak() -> float:
    """Return the operations per second of a large matrix product, the best of five."""
    a, b = torch.randn(PEAK_SIZE, PEAK_SIZE), torch.randn(PEAK_SIZE, PEAK_SIZE)
    best = min(in_turn({"product": lambda: torch.mm(a, b)}, rounds=5)["product"])
    return 2 * PEAK_SIZE**3 / best
