"""What the documentation says was tried: its Python runs, its commands exist."""

import re
from pathlib import Path

import pytest
import torch

from ldhd.cli import app
from ldhd.experiments.config import make_configs
from ldhd.parsing import parse_settings
from ldhd.sweep.file import parse_sweep

ROOT = Path(__file__).parent.parent


def blocks(name, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / name).read_text(), re.S)


def test_theory_snippet(capsys):
    (code,) = blocks("docs/theory.md", "python")
    exec(code, {})
    assert capsys.readouterr().out.split() == ["4.0", "3.0", "True"]


def test_report_snippet(capsys, monkeypatch, tmp_path):
    (code,) = blocks("docs/report.md", "python")
    (tmp_path / "results").symlink_to(ROOT / "results")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "copy rpe-square (small) generalises 1.0" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()


def test_positions_snippet():
    (code,) = blocks("docs/positions.md", "python")
    n = 9
    names = {
        "torch": torch,
        "q": torch.randn(2, 8, n, 16),
        "k": torch.randn(2, 8, n, 16),
        "hidden": torch.randn(2, n, 128),
        "visible": torch.ones(1, 1, n, n, dtype=torch.bool).tril(),
    }
    exec(code, names)
    assert torch.allclose(names["weights"].sum(-1), torch.ones(2, 8, n))


def test_commands_of_the_readme_exist():
    known = {command.callback.__name__ for command in app.registered_commands}
    named = {
        line.split()[1] for block in blocks("README.md", "sh") for line in block.splitlines() if "ldhd " in line[:5]
    }
    assert named <= known
    assert named >= {"run", "evaluate", "show", "tasks", "positions", "verify"}


@pytest.mark.parametrize(
    "line", [line for block in blocks("README.md", "sh") for line in block.splitlines() if line.startswith("ldhd run")]
)
def test_runs_of_the_readme_are_valid(line):
    words = line.split("#")[0].split()
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    assert make_configs(words[2], words[words.index("--position") + 1].split(","), settings=parse_settings(settings))


def test_sweeps_of_the_page_are_valid():
    grid, runs = blocks("docs/sweeps.md", "toml")
    assert len(parse_sweep(grid, "sweep.toml")) == 40
    assert len(parse_sweep(runs, "sweep.toml")) == 2


def test_links_lead_somewhere():
    pages = ("README.md", "CONTRIBUTING.md", "results/README.md", "docs/theory.md", "docs/data.md", "docs/sweeps.md")
    pages += ("docs/scale.md", "docs/performance.md", "docs/report.md")
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
            if not target.startswith("http"):
                assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"
