"""The GPT against Hugging Face's, and its attention options against their formulas."""

import math
from dataclasses import replace

import pytest
import torch

from ldhd.bench.hugging_face import same_gpt2, translate
from ldhd.model import GPT, MODELS, ModelConfig
from ldhd.model.attention import Attention, AttentionWeights
from ldhd.model.gelu import GELU
from ldhd.model.packing import everything
from ldhd.model.recording import record_attention
from ldhd.positions import (
    RPE,
    Abacus,
    Absolute,
    Alibi,
    Coupled,
    LatentWindow,
    NoPosition,
    RandomizedAbsolute,
    Rotary,
    RPESquare,
)
from ldhd.positions.context import Context


def test_absolute_gives_the_logits_of_hugging_face_gpt2():
    ours, theirs = same_gpt2(ModelConfig(layers=3, heads=4, dimension=48))
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        ours.load_state_dict(translate(theirs.state_dict(), layers=3))
        tokens = torch.randint(17, (5, 33))
        assert (ours.eval()(tokens) - theirs.eval()(tokens).logits).abs().max() < 1e-5


def test_gelu_is_the_one_of_gpt2():
    x = torch.randn(50, 7, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(GELU()(x), torch.nn.functional.gelu(x, approximate="tanh"), atol=1e-12)
    assert torch.autograd.gradcheck(GELU(), (x,))


def test_wanted_logits_are_those_of_all_places():
    model = GPT(ModelConfig(layers=2, heads=2, dimension=8, weight_std=0.5), 17, RPESquare).eval()
    tokens = torch.randint(17, (3, 6))
    valid = torch.tensor([[True] * 6, [False] * 2 + [True] * 4, [True] * 5 + [False]])
    places = torch.tensor([0, 5, 9, 14])
    wanted = model(tokens, valid, packing=everything(3, 6, places))
    assert torch.allclose(wanted, model(tokens, valid).flatten(0, 1)[places], atol=1e-6)


@pytest.mark.parametrize("position", [NoPosition, Absolute, Rotary, Alibi])
def test_fused_attention_is_the_plain_one(position, monkeypatch):
    config = ModelConfig(layers=2, heads=2, dimension=8, weight_std=0.5, log_length=True)
    model = GPT(config, 17, position)
    tokens, valid = torch.randint(17, (3, 9)), torch.ones(3, 9, dtype=torch.bool)
    valid[1, :4] = valid[2, 7:] = False
    found = []
    for least in (1, 10**9):
        monkeypatch.setattr("ldhd.model.attention.FUSED_FROM", least)
        logits = model(tokens, valid)[valid]
        found.append([logits, *torch.autograd.grad(logits.square().sum(), list(model.parameters()))])
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("position", [NoPosition, Rotary, Alibi, RPE, RPESquare])
def test_attention_in_chunks_is_the_whole_one(position, monkeypatch):
    config = ModelConfig(layers=2, heads=2, dimension=8, weight_std=0.5, log_length=True, null_key=True)
    model, tokens = GPT(config, 17, position), torch.randint(17, (3, 25))
    found = []
    for least in (600, 10**9):
        monkeypatch.setattr("ldhd.model.attention.CHUNKED_FROM", least)
        logits = model(tokens)
        found.append([logits, *torch.autograd.grad(logits.square().sum(), list(model.parameters()))])
    assert all(torch.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(*found, strict=True))


def test_with_a_cache_there_is_no_gradient():
    model = GPT(ModelConfig(layers=1, heads=2, dimension=8), 17, RPESquare)
    assert not model(torch.tensor([[1, 2]]), cache=model.new_cache()).requires_grad
    assert model(torch.tensor([[1, 2]])).requires_grad


def test_gpt2_has_the_size_of_gpt2():
    """124,439,808 parameters with GPT-2's vocabulary and 1024 positions."""
    with torch.device("meta"):
        model = GPT(MODELS["gpt2"], 50257, Absolute)
    assert sum(p.numel() for p in model.parameters()) == 124_439_808


def seeing(visible, **context):
    """The context of one string in which the queries see these keys."""
    return replace(Context.causal(torch.zeros(1, visible.shape[-2], 8), **context), visible=visible)


def attention_weights(logits, visible, **options):
    torch.manual_seed(0)
    module = AttentionWeights(ModelConfig(layers=1, heads=2, dimension=8, **options))
    q, k = torch.randn(1, 2, logits.shape[-2], 4), torch.randn(1, 2, logits.shape[-1], 4)
    weights = module(q, k, logits - q @ k.mT, seeing(visible))
    assert torch.allclose(weights.sum(-1), torch.ones(()))
    return weights[..., : logits.shape[-1]], module, q


def test_log_length_scaling_is_its_formula():
    n = 6
    logits, visible = torch.randn(1, 2, n, n), torch.ones(1, 1, n, n, dtype=torch.bool).tril()
    weights, _, _ = attention_weights(logits, visible, log_length=True, log_length_reference=10)
    for j in range(n):
        scale = math.log(1 + (j + 1)) / math.log(1 + 10)
        assert torch.allclose(weights[:, :, j, : j + 1], (scale * logits[:, :, j, : j + 1]).softmax(-1), atol=1e-6)


def test_scalable_softmax_is_log_length_with_a_learned_factor():
    """A head with the factor 1.5 has the logits of one whose queries are 1.5 times as large."""
    torch.manual_seed(0)
    config = ModelConfig(layers=1, heads=2, dimension=8, log_length=True, ssmax=True, null_key=True)
    attention = Attention(config, RPE(8, 2, table_std=1.0))
    assert attention.weights.ssmax.tolist() == [[[1.0]], [[1.0]]]
    x = torch.randn(5, 8)
    context = Context.causal(x[None])
    plain = Attention(ModelConfig(layers=1, heads=2, dimension=8, log_length=True, null_key=True), attention.position)
    plain.load_state_dict(attention.state_dict(), strict=False)
    assert torch.allclose(attention(x, [context], [5]), plain(x, [context], [5]), atol=1e-6)
    with torch.no_grad():
        attention.weights.ssmax[1] = 1.5
        plain.qkv.weight[4:8] *= 1.5
        plain.qkv.bias[4:8] *= 1.5
    assert torch.allclose(attention(x, [context], [5]), plain(x, [context], [5]), atol=1e-5)
    attention(x, [context], [5]).square().sum().backward()
    assert attention.weights.ssmax.grad.abs().min() > 0
    with pytest.raises(ValueError, match="it needs log_length"):
        ModelConfig(layers=1, heads=2, dimension=8, ssmax=True)


def test_sharpening_is_random_in_training_only():
    """Each sequence gets one factor, from 1 to `sharpen`; in a test all get the largest."""
    config = ModelConfig(layers=1, heads=2, dimension=8, log_length=True, sharpen=5.0)
    module, visible = AttentionWeights(config), torch.ones(1, 1, 6, 6, dtype=torch.bool).tril()
    plain = AttentionWeights(config.model_copy(update={"sharpen": 1.0})).factor(seeing(visible), 500, 6)
    assert torch.allclose(module.factor(seeing(visible), 500, 6), 5 * plain)
    exploring = seeing(visible, exploring=True, generator=torch.Generator().manual_seed(0))
    factors = module.factor(exploring, 500, 6) / plain
    assert factors.shape == (500, 1, 6, 1)
    assert torch.allclose(factors, factors[:, :, :1].expand_as(factors))
    assert 1 <= factors.min() < 1.05
    assert 4.9 < factors.max() <= 5


def test_where_a_position_only_head_looks_depends_on_no_token():
    config = ModelConfig(layers=1, heads=2, dimension=8, position_only=True, weight_std=0.5)
    model = GPT(config, 17, RPE)
    (weights,) = record_attention(model, torch.tensor([[10, 1, 2, 3], [11, 7, 7, 7]])).attention
    assert torch.equal(weights[0], weights[1])
    assert not torch.allclose(weights[0, 0], weights[0, 1])


def test_further_mlps_compute_without_looking():
    """They are residual steps of each token on its own."""
    model = GPT(ModelConfig(layers=1, heads=2, dimension=8, mlps=3, weight_std=0.5), 17, NoPosition).eval()
    block = model.blocks[0]
    tokens = torch.tensor([[10, 1, 2, 3]])
    x = model.tokens(tokens)
    context = Context.causal(x)
    x = x[0]
    x = x + block.attention(block.attention_norm(x), [context], [4])
    for norm, mlp in ((block.mlp_norm, block.mlp), *zip(block.further_norms, block.further_mlps, strict=True)):
        x = x + mlp(norm(x))
    assert torch.allclose(model(tokens)[0], model.norm(x) @ model.tokens.weight.T, atol=1e-5)


def test_null_key_takes_its_share():
    logits, visible = torch.randn(1, 2, 5, 5), torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()
    weights, module, q = attention_weights(logits, visible, null_key=True)
    null = q @ module.null_key
    for j in range(5):
        row = torch.cat([logits[:, :, j, : j + 1], null[:, :, j]], dim=-1).softmax(-1)
        assert torch.allclose(weights[:, :, j, : j + 1], row[..., :-1], atol=1e-6)
    assert (weights.sum(-1) < 1).all()


def test_the_null_key_may_start_ahead():
    logits, visible = torch.randn(1, 2, 5, 5), torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()
    weights, module, q = attention_weights(logits, visible, null_key=True, null_lead=1.5, sharpen=3.0)
    weights = module(q, torch.zeros_like(q), logits, seeing(visible))
    null = 3 * (q @ module.null_key + 1.5)
    for j in range(5):
        row = torch.cat([3 * logits[:, :, j, : j + 1], null[:, :, j]], dim=-1).softmax(-1)
        assert torch.allclose(weights[:, :, j, : j + 1], row[..., :-1], atol=1e-6)


def test_residual_outputs_start_smaller():
    model = GPT(ModelConfig(layers=8, heads=4, dimension=128), 17, NoPosition)
    block = model.blocks[0]
    assert block.attention.qkv.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert block.attention.out.weight.std().item() == pytest.approx(0.02 / 4, rel=0.1)
    assert block.mlp[2].weight.std().item() == pytest.approx(0.02 / 4, rel=0.1)


@pytest.mark.parametrize("kind", [Absolute, Abacus, Coupled, RandomizedAbsolute])
def test_tables_added_to_tokens_start_as_the_tokens_do(kind):
    config = ModelConfig(layers=2, heads=2, dimension=32, weight_std=0.3)

    def table(**options):
        torch.manual_seed(0)
        model = GPT(config.model_copy(update=options), 500, kind)
        return {name: p for name, p in model.named_parameters() if name == "tokens.weight" or "table" in name}

    for values in table().values():
        assert values.std().item() == pytest.approx(0.3, rel=0.1)
    (usual, lifted) = (table(weight_std=0.02), kind(32, 2))
    assert next(lifted.parameters()).std().item() == pytest.approx(0.02, rel=0.1)
    for name, values in table().items():
        assert torch.allclose(values, 15 * usual[name], rtol=1e-5)


@pytest.mark.parametrize("kind", [RPE, RPESquare, LatentWindow])
def test_tables_of_the_logits_have_a_standard_deviation_of_their_own(kind):
    model = GPT(ModelConfig(layers=1, heads=8, dimension=512, weight_std=0.3), 17, kind)
    assert model.position.table.std().item() == pytest.approx(0.02, rel=0.1)


def test_heads_must_divide_the_dimension():
    with pytest.raises(ValueError, match="dimension 10 is not a multiple of heads 3"):
        ModelConfig(layers=1, heads=3, dimension=10)


def test_dropout_acts_in_training_only():
    model = GPT(ModelConfig(layers=1, heads=2, dimension=16, dropout=0.5), 17, NoPosition)
    tokens = torch.arange(8)[None]
    assert not torch.equal(model.train()(tokens), model(tokens))
    assert torch.equal(model.eval()(tokens), model(tokens))


@pytest.mark.parametrize("place", ["attention", "residual", "embedding"])
def test_dropout_of_one_place_replaces_that_of_all(place):
    """With no dropout elsewhere, passes of a model in training differ if its rate is not zero in this place."""
    places = {f"{other}_dropout": 0.0 for other in ("attention", "residual", "embedding")}
    tokens = torch.arange(8)[None]
    for rate, random in ((0.5, True), (0.0, False)):
        config = ModelConfig(layers=1, heads=2, dimension=16, dropout=0.5, **{**places, f"{place}_dropout": rate})
        model = GPT(config, 17, NoPosition).train()
        assert torch.equal(model(tokens), model(tokens)) is not random


def test_dropout_of_all_places_is_the_same_in_each():
    torch.manual_seed(0)
    tokens, outputs = torch.arange(8)[None], []
    together = {f"{place}_dropout": 0.3 for place in ("attention", "residual", "embedding")}
    for options in ({"dropout": 0.3}, together):
        torch.manual_seed(0)
        outputs.append(GPT(ModelConfig(layers=1, heads=2, dimension=16, **options), 17, NoPosition).train()(tokens))
    assert torch.equal(*outputs)
