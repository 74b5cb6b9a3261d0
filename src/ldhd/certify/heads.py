"""What each head of a trained latent window can see, read from its weights.

With one layer and `position_only`, the attention of a head depends on which keys stand in its window and on nothing
else: the logit of a key is a constant of its class m, the value of a key a function of its token. And whether a token
is an anchor depends on the token alone. So both can be tabulated, in float64, for every token there is.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ldhd.certify.rounding import UNIT, Error, gamma, largest_stretch, normalise
from ldhd.model import GPT
from ldhd.model.attention import Attention
from ldhd.model.gpt import Block
from ldhd.positions.latent_window import BEYOND, LatentWindow
from ldhd.tasks.tokens import CHARACTERS

Array = NDArray[np.float64]

LONGEST = 1e30
"""The number of tokens up to which a certificate holds; more than can be stored anywhere."""


class RefusedError(Exception):
    """A run that cannot be certified, and why."""


@dataclass(frozen=True)
class Head:
    """One head: its anchors, what it adds for each visible key, and what it can at most gain from hidden ones."""

    index: int
    anchors: frozenset[str]
    absolute: bool
    """Whether the classes are the places of the keys alone."""
    from_start: bool
    """Whether places are counted from the first token of the string."""
    window: int
    weights: dict[int, float]
    """The unnormalised weight of a key of each class, relative to the largest that there is."""
    null: float
    """The unnormalised weight of the null key."""
    values: Array
    """What a key with each token adds to the hidden state at weight 1: tokens x dimension."""
    hidden: float
    """A bound on the share of all hidden keys together in a string of `LONGEST` tokens."""
    logit_error: float
    """A bound on the rounding error of a logit in float32."""
    value_errors: Array
    """Bounds on the rounding error, as a norm, of what a key with each token adds at weight 1."""


def read_heads(model: GPT, alphabet: str) -> list[Head]:
    """Tabulate the heads of a model; RefusedError if a head's view is not bounded in strings of these tokens."""
    config = model.config
    position = model.position
    if not isinstance(position, LatentWindow):
        raise RefusedError(
            f"its position embedding is {position.name or type(position).__name__}: all keys are visible"
        )
    if config.layers != 1:
        raise RefusedError(f"it has {config.layers} layers: from the second on, keys depend on more than their token")
    if position.ends:
        raise RefusedError("its heads count from both ends: position.ends is on")
    if position.segments:
        raise RefusedError("its heads count which anchor a key stands behind: position.segments is on")
    if not config.position_only:
        raise RefusedError("its queries and keys depend on the tokens: model.position_only is off")
    if not config.null_key:
        raise RefusedError("it has no null key: a head that sees nothing attends to everything")
    if config.log_length:
        raise RefusedError("its logits grow with the length of the string: model.log_length is on")
    anchors = _anchors(model, position, alphabet)
    heads = [_head(model, position, index, anchors[index]) for index in range(config.heads)]
    heads = [head for head in heads if head.values.any()]  # a head that is switched off sees nothing
    for head in heads:
        _check_anchors(head, alphabet)
        if not head.hidden < 1e-7:
            raise RefusedError(
                f"head {head.index} does not hide keys outside its window: their share can reach {head.hidden:.1e}"
            )
    return heads


def _anchors(model: GPT, position: LatentWindow, alphabet: str) -> list[frozenset[str]]:
    """Return the anchors of each head among the tokens that occur; RefusedError where rounding could decide."""
    block = model.blocks[0]
    assert isinstance(block, Block)
    ids = [CHARACTERS.index(token) for token in alphabet]
    weight = position.anchor.key.weight.detach().double()
    hidden = _normed(block.attention_norm, model.tokens.weight.detach()[ids].double())
    scores = hidden @ weight.T
    # a product of as many terms as the model has dimensions, of an input that has the error of a layer norm
    margins = 4 * gamma(4 * model.config.dimension) * (hidden.abs() @ weight.abs().T + 1)
    learned = model.config.heads - position.anchor.first_token_heads
    for head in range(learned):
        for row, token in enumerate(alphabet):
            if abs(float(scores[row, head])) <= float(margins[row, head]):
                raise RefusedError(f"rounding decides whether {token!r} is an anchor of head {head}")
    return [
        frozenset(token for row, token in enumerate(alphabet) if head < learned and scores[row, head] > 0)
        for head in range(model.config.heads)
    ]


def attention_of(model: GPT) -> Attention:
    """Return the attention of the first layer; ValueError if it has none."""
    found = model.blocks[0].attention
    if not isinstance(found, Attention):
        raise ValueError("the model has no attention")
    return found


def _check_anchors(head: Head, alphabet: str) -> None:
    digits = "".join(sorted(token for token in head.anchors if token.isdigit()))
    if digits:
        raise RefusedError(
            f"head {head.index} has an anchor on the digit {', '.join(digits)}: the longer the string, the more it sees"
        )


def _head(model: GPT, position: LatentWindow, index: int, anchors: frozenset[str]) -> Head:
    attention, config = attention_of(model), model.config
    assert attention.constants is not None
    assert attention.weights.null_key is not None
    q, k = attention.constants.detach().double()[:, 0, index, 0]
    q = q * attention.scale
    own = float(q @ k)
    classes = position.table.detach().double()[index] @ q
    null = config.sharpen * (float(q @ attention.weights.null_key.detach().double()[index, :, 0]) + config.null_lead)
    logits = config.sharpen * (own + classes)
    top = max(null, float(logits.max()))
    worst = config.sharpen * (own - BEYOND)  # outside the window
    inside = config.sharpen * (own + float(classes.max()) - BEYOND)  # an anchor inside the window
    table = position.table.detach().double()[index]
    magnitude = float((q.abs() * k.abs()).sum() + (table.abs() @ q.abs()).max())
    error = gamma(position.head_dimension + 8) * config.sharpen * (magnitude + abs(config.null_lead)) + 1e-7 * abs(null)
    far = error + 1e-5 * BEYOND  # what is lowered rounds more coarsely
    hidden = LONGEST * np.exp(worst - null + 2 * far) + 8 * len(CHARACTERS) * np.exp(inside - null + 2 * far)
    start = index >= config.heads // 2 and position.absolute == "start"
    values, value_errors = _values(model, index)
    return Head(
        index,
        anchors,
        absolute=bool(position.absolute) and index >= config.heads // 2,
        from_start=start,
        window=position.window,
        weights={m - position.window: float(np.exp(float(logit) - top)) for m, logit in enumerate(logits)},
        null=float(np.exp(null - top)),
        values=values,
        hidden=float(hidden),
        logit_error=error,
        value_errors=value_errors,
    )


def _values(model: GPT, index: int) -> tuple[Array, Array]:
    """Return W_O W_V norm(embedding) of every token in one head, and bounds on its rounding error."""
    block = model.blocks[0]
    assert isinstance(block, Block)
    attention, size = attention_of(model), model.position.head_dimension
    part = slice(index * size, (index + 1) * size)
    embedded = model.tokens.weight.detach().double()
    hidden = _normed(block.attention_norm, embedded)
    weight, bias = attention.values.weight.detach().double()[part], attention.values.bias.detach().double()[part]
    out = attention.out.weight.detach().double()[:, part]
    values = hidden @ weight.T + bias
    d = model.config.dimension
    norm = block.attention_norm
    exact = Error(embedded.new_zeros(len(embedded), 0, 1, d), embedded.new_zeros(len(embedded), 1))
    rounded = normalise(embedded, exact, norm.eps).added * float(norm.weight.detach().abs().max())
    errors = largest_stretch(weight) * (rounded + 2 * UNIT * hidden.norm(dim=-1, keepdim=True))[:, 0]
    errors = errors + gamma(d + 2) * (hidden.abs() @ weight.abs().T + bias.abs()).norm(dim=-1)
    # every head adds to the same sum over as many terms as the model has dimensions
    errors = largest_stretch(out) * errors + gamma(d + 4) * (values.abs() @ out.abs().T).norm(dim=-1)
    return (values @ out.T).numpy(), errors.numpy()


def _normed(norm: torch.nn.Module, x: Tensor) -> Tensor:
    assert isinstance(norm, torch.nn.LayerNorm)
    weight, bias = norm.weight.detach().double(), norm.bias.detach().double()
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, norm.eps)
