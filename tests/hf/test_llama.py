"""Llama, and models built like it, with another position embedding: logits, decoding, saving, and loading elsewhere."""

import copy
import json
import subprocess
import sys

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from contracts.formulas import rpe_square_by_loops
from ldhd.hf import swap_position
from ldhd.positions.context import Context

SIZE = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZE |= {"num_key_value_heads": 2, "vocab_size": 20, "max_position_embeddings": 8, "pad_token_id": 19}
SIZE |= {"bos_token_id": None, "eos_token_id": None}
FAMILIES = {
    "llama": lambda **options: LlamaForCausalLM(LlamaConfig(**{**SIZE, **options})),
    "qwen2": lambda **options: Qwen2ForCausalLM(Qwen2Config(**{**SIZE, **options})),
    "mistral": lambda **options: MistralForCausalLM(MistralConfig(**{**SIZE, "sliding_window": None, **options})),
}
SWAPS = [
    ("rpe-square", {}),
    ("rpe-square", {"projections": "separate", "max_distance": 12}),
    ("latent-window", {"absolute": "start"}),
    ("rope", {}),
    ("rpe-square+rpe-absolute", {}),
]


@pytest.fixture(params=FAMILIES)
def make(request):
    return FAMILIES[request.param]


def wild(model):
    """Weights large enough that what is written depends on everything."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.eval()


def padded(rows):
    length = max(map(len, rows))
    tokens = torch.tensor([[19] * (length - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in rows])
    return {"input_ids": tokens, "attention_mask": mask}


def generated(model, inputs, **options):
    written = model.generate(**inputs, max_new_tokens=6, do_sample=False, **options)
    return written[:, inputs["input_ids"].shape[1] :].tolist()


@pytest.fixture
def rows():
    return [torch.randint(19, (length,)).tolist() for length in (3, 7, 12)]


def test_its_own_rotary_embedding_swapped_in_changes_nothing(make):
    model = wild(make())
    tokens = torch.randint(19, (2, 11))
    with torch.no_grad():
        before = model(tokens).logits
        assert not torch.allclose(model(tokens, position_ids=torch.zeros(2, 11, dtype=torch.long)).logits, before)
        torch.testing.assert_close(swap_position(model, "rope")(tokens).logits, before, rtol=1e-4, atol=1e-4)


def test_none_is_the_model_at_one_position(make):
    model = wild(make())
    tokens = torch.randint(19, (2, 11))
    with torch.no_grad():
        expected = model(tokens, position_ids=torch.zeros(2, 11, dtype=torch.long)).logits
        torch.testing.assert_close(swap_position(model, "none")(tokens).logits, expected, rtol=1e-4, atol=1e-4)


def test_rpe_square_is_the_printed_formula_added_to_the_logits():
    """One layer of Llama as transformers computes it, without rotation, and with the formula by loops as its mask."""
    plain = wild(FAMILIES["llama"](num_hidden_layers=1))
    swapped = wild(swap_position(copy.deepcopy(plain), "rpe-square", projections="separate", max_distance=3))
    plain.load_state_dict(swapped.state_dict(), strict=False)
    plain.set_attn_implementation("eager")
    tokens = torch.randint(19, (1, 9))
    layer, position = swapped.model.layers[0], swapped.model.layers[0].self_attn.position
    with torch.no_grad():
        hidden = layer.input_layernorm(swapped.model.embed_tokens(tokens))
        q = layer.self_attn.q_proj(hidden).view(1, 9, 4, 8).transpose(1, 2) / 8**0.5
        anchor = position.anchor(q, q, Context.causal(hidden)).weights()
        term = rpe_square_by_loops(q, anchor, position.table)
        hidden_keys = torch.full((9, 9), torch.finfo(torch.float32).min).triu(1)
        places = torch.zeros(1, 9, dtype=torch.long)
        expected = plain(tokens, attention_mask=term + hidden_keys, position_ids=places).logits
        torch.testing.assert_close(swapped(tokens).logits, expected, rtol=1e-4, atol=1e-4)
    assert term.abs().max() > 0.1


@pytest.mark.parametrize(("position", "options"), SWAPS)
def test_decoding_needs_neither_a_cache_nor_a_batch_without_padding(position, options, rows):
    model = wild(swap_position(FAMILIES["llama"](), position, **options))
    alone = [generated(model, padded([row]), use_cache=False)[0] for row in rows]
    assert generated(model, padded(rows)) == alone
    assert [generated(model, padded([row]))[0] for row in rows] == alone
    assert len({tuple(row) for row in alone}) == 3


def test_it_is_saved_loaded_and_trained(make, rows, tmp_path):
    model = wild(swap_position(make(), "latent-window", unique=0.1))
    model.save_pretrained(tmp_path)
    again = AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        assert torch.equal(again(**padded(rows)).logits, model(**padded(rows)).logits)
    tokens = torch.randint(19, (2, 9))
    again.train()(tokens, labels=tokens).loss.backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in again.parameters())


def test_wrong_use_is_refused_in_one_line():
    with pytest.raises(ValueError, match="swap_position takes heads that share the 32 hidden dimensions, not 4 heads"):
        swap_position(FAMILIES["llama"](head_dim=16), "rpe-square")
    windowed = swap_position(FAMILIES["mistral"](sliding_window=4), "rpe-square")
    with pytest.raises(ValueError, match="otherwise masked texts are not taken"):
        windowed(torch.randint(19, (1, 9)))


ELSEWHERE = '''
import sys
from transformers import AutoModelForCausalLM

class Absent:
    """As if ldhd were not installed."""

    def find_spec(name, *rest):
        if name.partition(".")[0] == "ldhd":
            raise ModuleNotFoundError(f"No module named {name!r}")


folder = sys.argv[1]
sys.meta_path.insert(0, Absent)
for trust in ({}, {"trust_remote_code": True}):
    try:
        AutoModelForCausalLM.from_pretrained(folder, **trust)
    except (ValueError, ImportError) as error:
        print("\\n>", " ".join(str(error).split()))  # after the question of transformers
sys.meta_path.remove(Absent)
model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
print(">", type(model).__name__)
model.save_pretrained(folder + "-again")
'''


@pytest.mark.slow
def test_a_model_that_is_loaded_without_ldhd_explains_itself(tmp_path, monkeypatch):
    """transformers says what to do, and the code in the folder loads the model, or says that ldhd is missing."""
    size = {"n_embd": 16, "n_layer": 1, "n_head": 2, "vocab_size": 20}
    folder = tmp_path / "model"
    swap_position(GPT2LMHeadModel(GPT2Config(**size)), "rpe-square").save_pretrained(folder)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    ran = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stderr
    refused, missing, loaded = (line[2:] for line in ran.stdout.splitlines() if line.startswith("> "))
    assert "contains custom code" in refused
    assert "trust_remote_code=True" in refused
    assert "packages that were not found in your environment: ldhd" in missing
    assert loaded == "PositionedGPT2ForCausalLM"
    first, again = (
        json.loads((tmp_path / name / "config.json").read_text())["auto_map"] for name in ("model", "model-again")
    )
    assert (
        first
        == again
        == {
            "AutoConfig": "ldhd_swapped.PositionedGPT2Config",
            "AutoModelForCausalLM": "ldhd_swapped.PositionedGPT2ForCausalLM",
        }
    )
    assert {path.name for path in folder.glob("*.py")} == {"ldhd_swapped.py"}
