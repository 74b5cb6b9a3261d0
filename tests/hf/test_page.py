"""The snippets of docs/huggingface.md run in order, as a reader would run them; that of ONNX does in test_onnx."""

import re
from pathlib import Path

import pytest
import torch

from contracts.hub import trained
from ldhd.hf import export_run

PAGE = (Path(__file__).parents[2] / "docs" / "huggingface.md").read_text()
MODULE, SWAP, EXPORT, _ONNX = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def test_module():
    names = {}
    exec(MODULE, names)
    q, k, v = torch.randn(3, 2, 8, 5, 16)
    hidden = torch.randn(2, 5, 128)
    mixed = names["attend"](q, k, v, hidden)
    torch.testing.assert_close(mixed[:, :, 0], v[:, :, 0])
    torch.testing.assert_close(names["attend"](q[:, :, :3], k[:, :, :3], v[:, :, :3], hidden[:, :3]), mixed[:, :, :3])


def test_swap(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(SWAP, names)
    assert names["model"].config.position == "rpe-square"
    assert names["model"](torch.arange(9)[None]).logits.shape == (1, 9, 50257)


def test_export(run, tmp_path, monkeypatch, capsys):
    export_run(run, tmp_path / "copy-model")
    monkeypatch.chdir(tmp_path)
    exec(EXPORT, {})
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\['b12=.*', 'b31415=.*'\]", first)
    assert second.startswith("[{'generated_text': 'b407=")


def test_commands_of_the_page(tmp_path, capsys):
    """`ldhd export` prints the harness's command as the page gives it."""
    from ldhd.cli import main

    run = trained(tmp_path / "runs", steps=2, test_instances=2)
    with pytest.raises(SystemExit):
        main(["export", str(run), str(tmp_path / "copy-model"), "--lm-eval"])
    printed = capsys.readouterr().out.replace(str(tmp_path / "copy-model"), "copy-model")
    (command,) = re.findall(r"^lm_eval .*$", PAGE, re.M)
    assert command in printed
