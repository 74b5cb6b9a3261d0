"""What every position embedding must satisfy inside a GPT; an embedding's test class inherits these."""

import itertools
from dataclasses import replace

import pytest
import torch

from contracts.relation import RelationContract
from ldhd.evaluate import greedy
from ldhd.model import GPT, ModelConfig
from ldhd.model.packing import everything, pack
from ldhd.positions import Position
from ldhd.positions.context import Context
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import PADDING, VOCABULARY_SIZE, encode

TEXT = "b90417+5263=26804e"


def causal(n):
    return torch.ones(1, 1, n, n, dtype=torch.bool).tril()


def bias_of(position, q, hidden, **context):
    """Of a whole string, whatever its keys."""
    return position.bias(q, torch.randn_like(q), Context.causal(hidden, **context))


def context_of(tokens, **context):
    """The context of whole strings, before there are hidden states."""
    return Context.causal(torch.zeros(*tokens.shape, 1), **context)


class PositionContract(RelationContract):
    """Subclasses say how the embedding is made."""

    def make(self, dimension: int, heads: int, layer: int = 0) -> Position:
        raise AssertionError("an embedding's test says how to make it")

    def model(self, **options) -> GPT:
        """Two layers with large random weights, so that outputs differ from token to token."""
        torch.manual_seed(1)
        config = ModelConfig(layers=2, heads=2, dimension=16, weight_std=0.4, **options)
        model = GPT(config, VOCABULARY_SIZE, self.make)
        for name, parameter in model.named_parameters():
            if "table" in name or "attention.out" in name:
                torch.nn.init.normal_(parameter)
        return model.eval()

    def logits(self, model, text, left=0, right=0):
        """Logits on `text` with padding around it, of the text alone."""
        tokens = torch.tensor([[PADDING] * left + encode(text) + [PADDING] * right])
        valid = torch.zeros_like(tokens, dtype=torch.bool)
        valid[:, left : left + len(text)] = True
        return model(tokens, valid)[:, left : left + len(text)]

    def test_padding_on_either_side_changes_nothing(self):
        for options in ({}, {"log_length": True, "null_key": True}):
            model = self.model(**options)
            plain = model(torch.tensor([encode(TEXT)]))
            for left, right in ((0, 0), (5, 0), (0, 5), (3, 4)):
                assert torch.allclose(self.logits(model, TEXT, left, right), plain, atol=1e-4), (options, left, right)

    def test_later_tokens_change_nothing(self):
        model = self.model()
        longer = self.logits(model, TEXT + "12345")[:, : len(TEXT)]
        assert torch.allclose(longer, self.logits(model, TEXT), atol=1e-4)

    def test_cache_equals_full_forward(self):
        """Prefill and then single tokens, chunks, with padding on the left."""
        for options in ({}, {"log_length": True, "null_key": True}):
            model = self.model(**options)
            for left, cuts in ((0, (1, 2, 3, 9)), (4, (7, 8, 15))):
                tokens = torch.tensor([[PADDING] * left + encode(TEXT)])
                valid = tokens != PADDING
                full = model(tokens, valid)
                cache = model.new_cache()
                edges = [0, *cuts, tokens.shape[1]]
                parts = [model(tokens[:, a:b], valid[:, a:b], cache) for a, b in itertools.pairwise(edges)]
                assert torch.allclose(torch.cat(parts, 1)[:, left:], full[:, left:], atol=1e-4), (options, left)

    def test_decoding_is_the_same_cached_or_not_and_padded_or_not(self):
        """Strings of scales 3 to 12 in one batch, well beyond training scales."""
        model = self.model(null_key=True, log_length=True)
        stream = torch.Generator().manual_seed(0)
        prompts = [encode(TASKS["addition"].sample(scale, stream).prompt) for scale in (3, 5, 8, 12)]
        alone = [greedy(model, [prompt], 15, cache=False)[0] for prompt in prompts]
        assert len({tuple(row) for row in alone}) > 1
        assert greedy(model, prompts, 15) == alone
        assert greedy(model, prompts, 15, cache=False, padding="left") == alone
        assert greedy(model, prompts, 15, cache=False, padding="right") == alone

    def test_every_parameter_gets_a_gradient(self):
        model = self.model(null_key=True).train()
        model(torch.tensor([encode(TEXT)])).square().sum().backward()
        missing = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.isfinite().all()]
        assert missing == []

    def test_packed_batches_have_the_gradient_of_padded_ones(self):
        """Groups by length, and no query of the last layer that nobody asks for."""
        model, texts = self.model(null_key=True), [TEXT, "b7=7e", "b12=12e", "b345=345e", "b6=6e"]
        rows = [encode(text) + [PADDING] * (len(TEXT) - len(text)) for text in texts]
        tokens, wanted = torch.tensor(rows)[:, :-1], []
        for row, text in enumerate(texts):
            wanted += [row * tokens.shape[1] + column for column in range(text.index("="), len(text) - 1)]
        places = torch.tensor(wanted)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ldhd.model.packing.GROUP_COST", 0.0)
            packing = pack(places, *tokens.shape, model.config)
        assert [group.length for group in packing.groups] == [4, 6, 8, 17]
        if not model.packable:
            packing = replace(everything(*tokens.shape), wanted=places)
        found = []
        for way in (packing, everything(*tokens.shape, places)):
            logits = model(tokens, packing=way)
            loss = logits.logsumexp(-1).square().sum()
            gradients = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
            found.append([logits, *(gradient for gradient in gradients if gradient is not None)])
        for packed, padded in zip(*found, strict=True):
            assert torch.allclose(packed, padded, rtol=1e-3, atol=1e-4 * float(padded.abs().max()))

    def test_some_queries_have_the_terms_of_all(self):
        position, hidden = self.make(16, 2), torch.randn(2, 9, 16)
        q, k = torch.randn(2, 2, 9, position.head_dimension), torch.randn(2, 2, 9, position.head_dimension)
        context = Context.causal(hidden, tokens=torch.randint(14, (2, 9)))
        whole = position.bias(q, k, context)
        if position.some_queries and isinstance(whole, torch.Tensor):
            for queries in (1, 4):
                some = position.bias(q[..., -queries:, :], k, context)
                visible = causal(9)[..., -queries:, :]
                assert torch.allclose(some.where(visible, 0), whole[..., -queries:, :].where(visible, 0), atol=1e-5)

    def test_one_token_is_enough(self):
        assert self.model()(torch.tensor([[10]])).isfinite().all()

    def test_relation_is_hashable_and_repeatable(self):
        position = self.make(16, 2)
        pairs = [(j, i) for j in range(len(TEXT)) for i in range(j + 1)]
        classes = [position.relation(TEXT, j, i) for j, i in pairs]
        assert all(isinstance(hash(found), int) for found in classes)
        assert classes == [position.relation(TEXT, j, i) for j, i in pairs]

    def test_relations_at_once_are_those_of_each_pair(self):
        position = self.make(16, 2)
        queries = [0, 3, 11, len(TEXT) - 1]
        assert position.relations(TEXT, queries) == [
            [position.relation(TEXT, j, i) for i in range(j + 1)] for j in queries
        ]

    def test_training_has_the_relation_among_its_own(self):
        position = self.make(16, 2)
        choices = {len(position.training_relations(TEXT, j, i)) for j in (0, 4, 9) for i in range(j + 1)}
        assert len(choices) == 1
        assert position.training_relations(TEXT, 13, 2)[0] == position.relation(TEXT, 13, 2)

    def test_state_survives_a_round_trip(self):
        model, other = self.model(), self.model()
        for parameter in other.parameters():
            torch.nn.init.zeros_(parameter)
        other.load_state_dict(model.state_dict())
        tokens = torch.tensor([encode(TEXT)])
        assert torch.equal(model(tokens), other(tokens))
