"""The GPT against Hugging Face's, and its attention options against their formulas."""

import math

import pytest
import torch

from ldhd.model import GPT, MODELS, ModelConfig
from ldhd.model.gpt import AttentionWeights
from ldhd.positions import Absolute, NoPosition


def copy_from_hugging_face(theirs, ours):
    """GPT-2 keeps its projections transposed (Conv1D)."""
    state = theirs.state_dict()
    ours.tokens.weight.data = state["transformer.wte.weight"].clone()
    ours.position.table.data = state["transformer.wpe.weight"].clone()
    for layer, block in enumerate(ours.blocks):
        prefix = f"transformer.h.{layer}."
        for name, module in {
            "attn.c_attn": block.attention.qkv,
            "attn.c_proj": block.attention.out,
            "mlp.c_fc": block.mlp[0],
            "mlp.c_proj": block.mlp[2],
        }.items():
            module.weight.data = state[f"{prefix}{name}.weight"].T.clone()
            module.bias.data = state[f"{prefix}{name}.bias"].clone()
        for name, module in {"ln_1": block.attention_norm, "ln_2": block.mlp_norm}.items():
            module.weight.data = state[f"{prefix}{name}.weight"].clone()
            module.bias.data = state[f"{prefix}{name}.bias"].clone()
    ours.norm.weight.data = state["transformer.ln_f.weight"].clone()
    ours.norm.bias.data = state["transformer.ln_f.bias"].clone()


def test_absolute_gives_the_logits_of_hugging_face_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    theirs = GPT2LMHeadModel(GPT2Config(vocab_size=17, n_positions=64, n_embd=48, n_layer=3, n_head=4)).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    ours = GPT(
        ModelConfig(layers=3, heads=4, dimension=48), 17, lambda d, h, layer: Absolute(d, h, layer, table_size=64)
    ).eval()
    copy_from_hugging_face(theirs, ours)
    tokens = torch.randint(17, (5, 33))
    with torch.no_grad():
        assert (ours(tokens) - theirs(tokens).logits).abs().max() < 1e-5


def test_gpt2_has_the_size_of_gpt2():
    """124,439,808 parameters with GPT-2's vocabulary and 1024 positions."""
    with torch.device("meta"):
        model = GPT(MODELS["gpt2"], 50257, Absolute)
    assert sum(p.numel() for p in model.parameters()) == 124_439_808


def attention_weights(logits, visible, **options):
    torch.manual_seed(0)
    module = AttentionWeights(ModelConfig(layers=1, heads=2, dimension=8, **options))
    q, k = torch.randn(1, 2, logits.shape[-2], 4), torch.randn(1, 2, logits.shape[-1], 4)
    return module(q, k, logits - q @ k.mT, visible), module, q


def test_log_length_scaling_is_its_formula():
    n = 6
    logits, visible = torch.randn(1, 2, n, n), torch.ones(1, 1, n, n, dtype=torch.bool).tril()
    weights, _, _ = attention_weights(logits, visible, log_length=True, log_length_reference=10)
    for j in range(n):
        scale = math.log(1 + (j + 1)) / math.log(1 + 10) / math.sqrt(4)
        assert torch.allclose(weights[:, :, j, : j + 1], (scale * logits[:, :, j, : j + 1]).softmax(-1), atol=1e-6)


def test_null_key_takes_its_share():
    logits, visible = torch.randn(1, 2, 5, 5), torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()
    weights, module, q = attention_weights(logits, visible, null_key=True)
    null = (q @ module.null_key) / 2
    for j in range(5):
        row = torch.cat([logits[:, :, j, : j + 1] / 2, null[:, :, j]], dim=-1).softmax(-1)
        assert torch.allclose(weights[:, :, j, : j + 1], row[..., :-1], atol=1e-6)
    assert (weights.sum(-1) < 1).all()


def test_residual_outputs_start_smaller():
    model = GPT(ModelConfig(layers=8, heads=4, dimension=128), 17, NoPosition)
    block = model.blocks[0]
    assert block.attention.qkv.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert block.attention.out.weight.std().item() == pytest.approx(0.02 / 4, rel=0.1)
    assert block.mlp[2].weight.std().item() == pytest.approx(0.02 / 4, rel=0.1)


def test_heads_must_divide_the_dimension():
    with pytest.raises(ValueError, match="dimension 10 is not a multiple of heads 3"):
        ModelConfig(layers=1, heads=3, dimension=10)


def test_dropout_acts_in_training_only():
    model = GPT(ModelConfig(layers=1, heads=2, dimension=16, dropout=0.5), 17, NoPosition)
    tokens = torch.arange(8)[None]
    assert not torch.equal(model.train()(tokens), model(tokens))
    assert torch.equal(model.eval()(tokens), model(tokens))
