"""Nothing in a forward pass depends on the values of a tensor, so that no device is waited for.

On the `meta` device tensors have no values, and `torch.compile(fullgraph=True)` refuses a branch on a value: what works
with both never stalls a GPU.
"""

import subprocess
import sys

import pytest

from contracts import device
from contracts.device import EMBEDDINGS, batch, model_of
from ldhd.tasks.tokens import VOCABULARY_SIZE


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_every_pass_runs_without_values(name):
    model, (tokens, valid) = model_of(name, "meta"), batch("meta")
    for exploring in (True, False):
        penalties = []
        logits = model(tokens, valid, exploring=exploring, penalties=penalties)
        (logits.square().sum() + sum(penalties)).backward()
        assert logits.shape == (*tokens.shape, VOCABULARY_SIZE)
    assert all(parameter.grad is not None for parameter in model.parameters())
    cache = model.new_cache()
    for part in (slice(0, 6), slice(6, 7), slice(7, 11)):
        logits = model(tokens[:, part], valid[:, part], cache, exploring=False)
    assert logits.shape == (2, 4, VOCABULARY_SIZE)


@pytest.mark.slow
def test_compiled_in_one_graph_it_is_the_same_model():
    """Logits and gradients, exploring and as in a test, with every embedding."""
    done = subprocess.run([sys.executable, device.__file__], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == list(EMBEDDINGS)
