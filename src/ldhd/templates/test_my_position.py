"""My position: its relation tells apart what its terms do, and decoding reads what training has read."""

from collections import defaultdict

import pytest
import torch
from my_position import MyPosition

from ldhd.evaluate import greedy
from ldhd.model import GPT, ModelConfig
from ldhd.positions.context import Context
from ldhd.tasks.tokens import VOCABULARY_SIZE, encode

TEXT = "b90417+5263=26804e"


@torch.no_grad()
def test_pairs_of_one_relation_get_one_term_and_others_another() -> None:
    position = MyPosition(16, 2)
    for parameter in position.parameters():
        torch.nn.init.normal_(parameter)
    q = k = torch.ones(1, 2, len(TEXT), 8)  # the same query and key everywhere, so that position alone counts
    terms = position.bias(q, k, Context.causal(torch.zeros(1, len(TEXT), 16)))[0]
    found = defaultdict(set)
    for j in range(len(TEXT)):
        for i in range(j + 1):
            found[position.relation(TEXT, j, i)].add(tuple(round(float(term), 4) for term in terms[:, j, i]))
    assert all(len(known) == 1 for known in found.values())
    assert len({term for known in found.values() for term in known}) == len(found)


def test_decoding_is_the_same_cached_or_not_and_padded_or_not() -> None:
    torch.manual_seed(0)
    model = GPT(ModelConfig(layers=2, heads=2, dimension=16, weight_std=0.4), VOCABULARY_SIZE, MyPosition)
    prompts = [encode(text) for text in ("b12=", "b90417+5263=", "b1234567890=")]
    alone = [greedy(model, [prompt], 9, cache=False)[0] for prompt in prompts]
    assert greedy(model, prompts, 9) == alone
    assert greedy(model, prompts, 9, cache=False, padding="right") == alone


def test_wrong_options_are_named() -> None:
    with pytest.raises(ValueError, match="reach must not be negative, got -1"):
        MyPosition(16, 2, reach=-1)
