"""Embeddings outside ldhd: RPE-Square in a plain Transformer, and the files that have to be copied for RPE."""

import ast
import math
import subprocess
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from ldhd import positions
from ldhd.positions import RPESquare
from ldhd.positions.context import Context


class Attention(nn.Module):
    """Plain causal attention; the lines with `position` are all that RPE-Square needs."""

    def __init__(self, dimension, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dimension, 3 * dimension)
        self.out = nn.Linear(dimension, dimension)
        self.position = RPESquare(dimension, heads, max_distance=2)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q, context = q / math.sqrt(q.shape[-1]), Context.causal(x)
        logits = q @ k.mT + self.position.bias(q, k, context)
        weights = logits.masked_fill(~context.visible, -torch.inf).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(-2))


class Transformer(nn.Module):
    def __init__(self, symbols, dimension=64, heads=4, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(symbols, dimension)
        self.attentions = nn.ModuleList(Attention(dimension, heads) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(dimension) for _ in range(layers + 1))
        self.out = nn.Linear(dimension, symbols)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for attention, norm in zip(self.attentions, self.norms, strict=False):
            x = x + attention(norm(x))
        return self.out(self.norms[-1](x))


def test_a_plain_transformer_learns_to_repeat_with_it():
    """The token after the separator 4 repeats the first one, the next the second, and so on."""
    model = Transformer(symbols=5)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(150):
        text = torch.randint(4, (32, 4))
        tokens = torch.cat([torch.full((32, 1), 4), text, torch.full((32, 1), 4), text], dim=1)
        loss = F.cross_entropy(model(tokens[:, :-1])[:, 5:].flatten(0, 1), text.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1


def test_positions_import_nothing_else_of_ldhd():
    code = "import sys; from ldhd.positions import RPESquare; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    loaded = {name for name in found if name.startswith("ldhd.")} - {"ldhd.positions"}
    assert loaded
    assert all(name.startswith("ldhd.positions.") for name in loaded)


def files_of(name):
    """The modules of `ldhd.positions` that one of them needs, itself included."""
    found, waiting = set(), [f"ldhd.positions.{name}"]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            path = Path(positions.__file__).parent.joinpath(*module.split(".")[2:]).with_suffix(".py")
            imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
            waiting += [node.module for node in imports if node.module.startswith("ldhd")]
    return {module.removeprefix("ldhd.positions.") for module in found}


def test_rpe_needs_five_files_and_no_kernel():
    assert files_of("rpe") == {"rpe", "relative", "tables", "position", "context"}
