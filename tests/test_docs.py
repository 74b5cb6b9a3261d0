"""What the documentation says was tried: its Python runs, its commands exist."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ldhd.cli import app
from ldhd.experiments.config import FIELDS, make_configs
from ldhd.experiments.presets import PRESETS
from ldhd.model import MODELS
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
    report, figure = blocks("docs/report.md", "python")
    (tmp_path / "results").symlink_to(ROOT / "results")
    monkeypatch.chdir(tmp_path)
    exec(report + figure, {})
    assert "copy rpe-square generalises 1.0" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "copy.pdf").exists()


def test_predict_page(tmp_path, monkeypatch, capsys):
    (description,), (code,) = blocks("docs/predict.md", "toml"), blocks("docs/predict.md", "python")
    (tmp_path / "reversal.toml").write_text(description)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == ["RPESquare does not fit 0", "Mirror generalises 10"]


def test_predictions_of_the_predict_page():
    """What the page says can fail is what is registered."""
    found = json.loads((ROOT / "results/predictions.json").read_text())["predictions"]

    def verdicts(task, position, layers, **options):
        return {
            entry["verdict"]
            for entry in found
            if (entry["task"], entry["position"], entry["layers"]) == (task, position, layers)
            and all(own.get(k, v) == v for own in entry["position_options"].values() for k, v in options.items())
        }

    for task in ("multiplication", "division"):
        assert verdicts(task, "rpe-square", 1) == {"fails"}
        assert verdicts(task, "rpe-square+rpe-absolute", 1) == {"generalises"}
        assert verdicts(task, "rpe-square", 2, max_distance=2) == {"generalises"}
    assert verdicts("addition-aligned", "rpe", 1, max_distance=1024) == {"generalises"}
    assert verdicts("addition-aligned", "rope", 1) == {"generalises"}
    assert verdicts("addition-mod10", "rpe-square", 1, max_distance=2) == {"generalises"}
    assert {entry["verdict"] for entry in found if entry["task"] == "parity-direct"} == {"fails"}
    for task in {entry["task"] for entry in found if "baselines" not in entry}:
        assert verdicts(task, "abacus", 2, max_offset=0) == {"generalises" if task == "addition-mod10" else "fails"}


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


PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]


def test_commands_of_the_pages_exist():
    known = {command.name for command in app.registered_commands}
    for page in PAGES:
        lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
        assert {line.split()[1] for line in lines if line.startswith("ldhd ")} <= known, page
    listed = {
        line.split()[1] for block in blocks("docs/runs.md", "sh") for line in block.splitlines() if line[:5] == "ldhd "
    }
    assert listed >= known - {"demo", "leaderboard", "unpack"}


def test_the_readme_runs(tmp_path, monkeypatch, capsys):
    """Its Python, with a run of two steps in place of the one that it shows."""
    (code,) = blocks("README.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(code.replace("seed=0)", "seed=0, steps=2, settings={'test_instances': 2})"), {})
    assert "{'x': 1}" in capsys.readouterr().out


def test_the_citation_is_the_same_everywhere():
    from ldhd.hf.card import CITATION

    (cited,) = blocks("docs/index.md", "bibtex")
    assert cited.strip() == CITATION


@pytest.mark.parametrize(
    "line",
    [line for block in blocks("docs/runs.md", "sh") for line in block.splitlines() if line.startswith("ldhd run")],
)
def test_runs_of_the_page_are_valid(line):
    words = line.split("#")[0].split()
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    assert make_configs(words[2], words[words.index("--position") + 1].split(","), settings=parse_settings(settings))


def test_sweeps_of_the_page_are_valid():
    grid, runs = blocks("docs/sweeps.md", "toml")
    assert len(parse_sweep(grid, "sweep.toml")) == 40
    assert len(parse_sweep(runs, "sweep.toml")) == 2


def test_links_lead_somewhere():
    pages = sorted(path for folder in (".", "docs", "results") for path in (ROOT / folder).glob("*.md"))
    assert len(pages) > 10
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page} links to {target}"


def test_every_setting_is_explained():
    page = (ROOT / "docs/settings.md").read_text()
    for part, known in FIELDS.items():
        assert not [name for name in known if f"`{part}.{name}`" not in page]
    for name, model in MODELS.items():
        assert f"| `{name}` | {model.layers} | {model.heads} | {model.dimension} | {model.dropout:g} |" in page


def test_the_recipe_in_commands():
    commands = [
        line for block in blocks("docs/recipe.md", "sh") for line in block.splitlines() if line.startswith("ldhd run")
    ]
    words = [shlex.split(line.split("#")[0]) for line in commands]
    scales = ["--train-scales", "1-5", "--test-scales", "1-10,20,50,100"]
    assert words[0][2:] == ["addition", "--position", "latent-window", *scales]
    far = {"train_scales": range(1, 6), "test_scales": (*range(1, 11), 20, 50, 100)}
    recorded = [config for config in PRESETS["record"].configs("quick") if config.task == "addition"]
    assert make_configs("addition", ["latent-window"], **far) == recorded
    assert words[1][2:4] == words[2][2:4] == ["my_module:MyTask", "--position"]
    (own,) = make_configs("parity-direct", ["latent-window"], settings=parse_settings(words[2][-1:]))
    assert own.position_options["latent-window"]["absolute"] is True


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *[("peers", "peers"), ("reproduce", "matrix"), ("reproduce", "depth"), ("recipe", "ablation")],
        *[("bias", name) for name in ("bias", "diagonals", "words", "primed", "steps")],
    ],
)
def test_tables_are_of_the_stored_results(page, name):
    told = subprocess.run(
        [sys.executable, ROOT / "scripts/tables.py", name], capture_output=True, text=True, check=True
    )
    assert told.stdout in (ROOT / f"docs/{page}.md").read_text()
