"""An ONNX file computes what the model computes, for strings and batches of any size."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
import torch

pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

import jaxtyping
import onnxruntime

import ldhd
from contracts.command import ldhd as command
from ldhd.model import GPT, ModelConfig
from ldhd.onnx import largest_difference, onnx_file
from ldhd.positions import POSITIONS

PAGE = Path(__file__).parents[1] / "docs" / "huggingface.md"
LAYERS = {
    "learned tables and fixed terms": ["absolute", "rope", "alibi", "rpe", "none"],
    "anchors": ["latent-window", "rpe-square", {"hard": True}],
}
"""The embedding of each layer of a model; options are those of RPE-Square."""


@pytest.fixture(autouse=True)
def _unchecked_shapes():
    """While a model is exported its sizes are symbols, which have no value that could be checked."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def model(layers):
    """A model with random weights, large enough for positions to matter, and another embedding in each layer."""
    torch.manual_seed(0)
    config = ModelConfig(layers=len(layers), heads=2, dimension=16, log_length=True, null_key=True, weight_std=0.3)

    def position(dimension, heads, layer):
        kind = layers[layer]
        name, options = (kind, {}) if isinstance(kind, str) else ("rpe-square", kind)
        return POSITIONS[name](dimension, heads, layer, **options)

    return GPT(config, 17, position).eval()


@pytest.mark.parametrize("layers", LAYERS.values(), ids=LAYERS)
def test_logits_are_those_of_the_model(layers):
    gpt = model(layers)
    file = onnx_file(gpt)
    assert largest_difference(file, gpt) < 1e-4
    session = onnxruntime.InferenceSession(file)
    for rows, length in ((1, 1), (1, 2), (5, 17), (3, 33), (1, 400)):  # from one token to beyond what was exported
        tokens = torch.randint(17, (rows, length))
        with torch.no_grad():
            expected = gpt(tokens)
        (logits,) = session.run(["logits"], {"input_ids": tokens.numpy()})
        torch.testing.assert_close(torch.from_numpy(logits), expected, atol=1e-4, rtol=1e-4)
    with torch.no_grad():
        gpt.tokens.weight[3].neg_()
    assert largest_difference(file, gpt) > 0.1  # it is another model now


def test_the_command_writes_a_file_that_answers(tmp_path, capsys, monkeypatch):
    path = tmp_path / "copy.onnx"
    code, out, _ = command(capsys, "export", "copy", path, "--onnx", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["largest_difference"] < 1e-3
    session = onnxruntime.InferenceSession(path)
    metadata = session.get_modelmeta().custom_metadata_map
    tokens = json.loads(metadata["tokens"])
    assert metadata["hash"] == document["hash"]
    text = "b" + "4071" * 15 + "="
    prompt = len(text)
    while not text.endswith("e"):
        (logits,) = session.run(None, {"input_ids": [[tokens.index(token) for token in text]]})
        text += tokens[logits[0, -1].argmax()]
        assert len(text) < 200
    assert text[prompt:] == "4071" * 15 + "e"
    monkeypatch.chdir(tmp_path)
    (snippet,) = re.findall(r"```python\n(import json\nimport onnxruntime.*?)```", PAGE.read_text(), re.S)
    exec(snippet, {})
    assert capsys.readouterr().out == "b31415=31415e\n"
    code, _, err = command(capsys, "export", "copy", path, "--onnx")
    assert (code, err) == (2, f"ldhd: error: {path} exists already; export writes a new file\n")


def test_what_cannot_be_exported_is_refused(tmp_path, capsys, monkeypatch):
    from ldhd.onnx import export_onnx

    def run(position="none", **options):
        settings = {"train.samples": 64, "train.batch_size": 32, "test_instances": 1, "model.dimension": 16, **options}
        small = {"steps": 2, "train_scales": (1,), "test_scales": (1,), "settings": settings}
        config = ldhd.make_config("copy", position, **small)
        ldhd.run(config, tmp_path)
        return tmp_path / config.hash

    for folder, refusal in (
        (
            run(**{"model.architecture": "lstm", "model.heads": 1, "model.log_length": False, "model.null_key": False}),
            "lstm",
        ),
        (run("randomized-rope", **{"position.test_ids": "drawn"}), "randomized-rope draws positions in tests"),
        (run("rpe-square", **{"position.max_distance": 40}), "rpe-square cannot be exported to ONNX with its options"),
    ):
        with pytest.raises(ValueError, match=refusal) as error:
            export_onnx(folder, tmp_path / "model.onnx")
        assert "\n" not in str(error.value)
    assert not (tmp_path / "model.onnx").exists()
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxscript" else found(name))
    with pytest.raises(ValueError, match=r"onnxscript is not installed; .*\[onnx\]"):
        export_onnx("copy", tmp_path / "model.onnx")
    code, _, err = command(capsys, "export", "copy", tmp_path / "model.onnx", "--onnx", "--lm-eval")
    assert code == 2
    assert "--onnx goes without --lm-eval" in err
