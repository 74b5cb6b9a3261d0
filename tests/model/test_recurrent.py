"""The models without attention: an LSTM and a selective state-space model."""

import itertools

import pytest
import torch

from contracts.position import TEXT
from ldhd.evaluate import greedy, trace
from ldhd.experiments import make_config
from ldhd.experiments.predictions import predict_run
from ldhd.model import GPT, MODELS, ModelConfig
from ldhd.model.packing import everything, pack
from ldhd.model.recurrent import LSTM, StateSpace
from ldhd.positions import NoPosition, Rotary
from ldhd.positions.context import Context
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import PADDING, VOCABULARY_SIZE, encode
from ldhd.train.diagnosis import diagnosis


@pytest.fixture(params=["lstm", "ssm"])
def model(request):
    torch.manual_seed(1)
    config = ModelConfig(architecture=request.param, layers=2, heads=1, dimension=16, weight_std=0.4)
    return GPT(config, VOCABULARY_SIZE, NoPosition).eval()


def config_of(architecture):
    return ModelConfig(architecture=architecture, layers=1, heads=1, dimension=16)


def test_the_lstm_is_that_of_torch():
    layer, theirs = LSTM(config_of("lstm"), NoPosition(16, 1)), torch.nn.LSTM(16, 16, batch_first=True)
    theirs.load_state_dict({f"{name}_l0": value for name, value in layer.cell.state_dict().items()})
    x = torch.randn(3, 11, 16)
    found = layer(x.flatten(0, 1), [Context.causal(x)], [11])
    assert torch.allclose(found.view(3, 11, 16), theirs(x)[0], atol=1e-5)


def test_the_state_space_layer_is_that_of_mamba_in_transformers():
    from transformers import MambaConfig
    from transformers.models.mamba.modeling_mamba import MambaMixer

    torch.manual_seed(0)
    layer = StateSpace(config_of("ssm"), NoPosition(16, 1))
    theirs = MambaMixer(MambaConfig(hidden_size=16, num_hidden_layers=1), layer_idx=0)
    named = {
        "in_proj.weight": layer.into.weight,
        "out_proj.weight": layer.out.weight,
        "conv1d.weight": layer.convolution[:, None],
        "conv1d.bias": layer.convolution_bias,
        "x_proj.weight": layer.selective.weight,
        "dt_proj.weight": layer.step,
        "dt_proj.bias": layer.step_bias,
        "A_log": layer.log_decay,
        "D": layer.skip,
    }
    theirs.load_state_dict(named)
    x = torch.randn(3, 11, 16)
    with torch.no_grad():
        found = layer(x.flatten(0, 1), [Context.causal(x)], [11]).view(3, 11, 16)
        assert found.abs().max() > 0.1
        assert torch.allclose(found, theirs(x), atol=1e-5)


def test_initial_steps_are_those_of_the_paper():
    torch.manual_seed(0)
    layer = StateSpace(ModelConfig(architecture="ssm", layers=1, heads=1, dimension=512), NoPosition(512, 1))
    steps = torch.nn.functional.softplus(layer.step_bias)
    assert 0.001 - 1e-6 <= steps.min() < 0.0011
    assert 0.09 < steps.max() <= 0.1 + 1e-6


def test_padding_on_either_side_changes_nothing(model):
    plain = model(torch.tensor([encode(TEXT)]))
    for left, right in ((5, 0), (0, 5), (3, 4)):
        tokens = torch.tensor([[PADDING] * left + encode(TEXT) + [PADDING] * right])
        found = model(tokens, tokens != PADDING)[:, left : left + len(TEXT)]
        assert torch.allclose(found, plain, atol=1e-4)


def test_cache_equals_full_forward(model):
    for left in (0, 4):
        tokens = torch.tensor([[PADDING] * left + encode(TEXT)])
        valid, cache = tokens != PADDING, model.new_cache()
        edges = [0, left + 2, left + 3, left + 9, tokens.shape[1]]
        parts = [model(tokens[:, a:b], valid[:, a:b], cache) for a, b in itertools.pairwise(edges)]
        assert torch.allclose(torch.cat(parts, 1)[:, left:], model(tokens, valid)[:, left:], atol=1e-4)


def test_decoding_is_the_same_cached_or_not(model):
    stream = torch.Generator().manual_seed(0)
    prompts = [encode(TASKS["addition"].sample(scale, stream).prompt) for scale in (3, 5, 8)]
    alone = [greedy(model, [prompt], 9, cache=False)[0] for prompt in prompts]
    assert greedy(model, prompts, 9) == alone
    assert greedy(model, prompts, 9, cache=False, padding="left") == alone


def test_packed_batches_have_the_gradient_of_padded_ones(model):
    rows = [encode(text) + [PADDING] * (len(TEXT) - len(text)) for text in (TEXT, "b7=7e", "b345=345e")]
    tokens = torch.tensor(rows)[:, :-1]
    places = torch.tensor([14, 15, 17 + 2, 17 + 3, 34 + 5, 34 + 7])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldhd.model.packing.GROUP_COST", 0.0)
        packing = pack(places, *tokens.shape, model.config)
    assert len(packing.groups) == 3
    found = []
    for way in (packing, everything(*tokens.shape, places)):
        loss = model(tokens, packing=way).logsumexp(-1).square().sum()
        found.append(torch.autograd.grad(loss, list(model.parameters())))
    for packed, padded in zip(*found, strict=True):
        assert padded.isfinite().all()
        assert torch.allclose(packed, padded, rtol=1e-3, atol=1e-4 * float(padded.abs().max()))


def test_there_is_no_attention_to_look_at(model):
    found = trace(model, TASKS["copy"].read("b407="))
    assert found.attention == []
    assert diagnosis(model, TASKS["copy"], 3, 0) == {"anchor_entropy": [], "needed": {}}


def test_positions_and_options_of_attention_are_refused():
    with pytest.raises(ValueError, match="architecture ssm has no attention: its position must be none, got rope"):
        GPT(config_of("ssm"), VOCABULARY_SIZE, Rotary)
    with pytest.raises(ValueError, match="architecture lstm has no attention, which null_key is an option of"):
        ModelConfig(architecture="lstm", layers=1, heads=1, dimension=16, null_key=True)
    with pytest.raises(ValueError, match="its position must be none, got rope"):
        make_config("copy", "rope", model="lstm")


def test_nothing_is_predicted_of_them():
    assert {predict_run(make_config("copy", "none", model=name)) for name in ("lstm", "ssm")} == {"does not apply"}


def test_stored_configs_of_transformers_do_not_name_an_architecture():
    assert "architecture" not in MODELS["small"].model_dump()
    assert MODELS["lstm"].model_dump()["architecture"] == "lstm"
