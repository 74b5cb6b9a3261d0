"""Models with every embedding, without and with `torch.compile`.

    python tests/contracts/device.py    # compile each, and print the names of those that are as they should be

It is a program of its own because the type checker of the tests cannot be compiled.
"""

import torch

from ldhd.model import GPT, ModelConfig
from ldhd.positions import POSITIONS
from ldhd.positions.factory import position_factory
from ldhd.tasks.tokens import PADDING, VOCABULARY_SIZE, encode

SUM = "rpe-square+rpe-absolute"
EMBEDDINGS = {name: (name, {}) for name in (*POSITIONS, SUM)}
for name in ("rpe-square", "rpe-absolute"):  # soft anchors scored by the key alone are the default
    EMBEDDINGS[f"{name}, key, hard"] = (name, {"hard": True})
    EMBEDDINGS[f"{name}, separate, soft"] = (name, {"projections": "separate"})
    EMBEDDINGS[f"{name}, separate, hard"] = (name, {"projections": "separate", "hard": True})
EMBEDDINGS["rpe-square, unclipped"] = ("rpe-square", {"max_distance": 40})
EMBEDDINGS["latent-window, half absolute"] = ("latent-window", {"absolute": True})

TEXTS = ("b904+52=956", "b17=")


def model_of(name, device="cpu"):
    position, options = EMBEDDINGS[name]
    terms = position.split("+")
    make = position_factory({term: POSITIONS[term] for term in terms}, dict.fromkeys(terms, options))
    config = ModelConfig(layers=1, heads=2, dimension=16, weight_std=0.3, log_length=True, null_key=True, sharpen=3.0)
    torch.manual_seed(1)
    with torch.device(device):
        return GPT(config, VOCABULARY_SIZE, make)


def batch(device="cpu"):
    """Two strings, the shorter one with padding on the left."""
    longest = max(map(len, TEXTS))
    tokens = torch.tensor([[PADDING] * (longest - len(text)) + encode(text) for text in TEXTS], device=device)
    return tokens, tokens != PADDING


def check_compiled(name):
    """Compiled in one graph, the model has the logits and the gradients that it has otherwise."""
    model, (tokens, valid) = model_of(name), batch()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    for exploring in (True, False):
        found = []
        for function in (model, compiled):
            torch.manual_seed(3)
            penalties = []
            logits = function(tokens, valid, exploring=exploring, penalties=penalties)
            loss = logits.square().sum() + sum(penalties)
            # hard anchors of a test get no gradient
            gradients = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True, materialize_grads=True)
            found.append([logits, *gradients])
        for eager, traced in zip(*found, strict=True):
            assert torch.allclose(eager, traced, rtol=1e-4, atol=1e-4)
    torch.compiler.reset()


if __name__ == "__main__":
    for name in EMBEDDINGS:
        check_compiled(name)
        print(name, flush=True)
