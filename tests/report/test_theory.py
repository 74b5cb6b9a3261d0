"""The ledger and the pictures of the theory, as a user sees them."""

import json

import numpy as np
import pytest

from ldhd.cli import main
from ldhd.report.figures import theory
from ldhd.report.figures.marks import HeatMap


@pytest.mark.parametrize("name", theory.FIGURES)
def test_every_figure_shows_finite_numbers(name):
    for panel in theory.FIGURES[name]().panels:
        assert panel.marks
        for mark in panel.marks:
            shown = np.array(mark.values if isinstance(mark, HeatMap) else [mark.x, mark.y])
            assert shown.size > 1
            assert np.isfinite(shown).all()


def test_grpe_dots_lie_on_their_lines():
    (panel,) = theory.grpe_dynamics().panels
    for flow, dots in zip(panel.marks[::2], panel.marks[1::2], strict=True):
        step = (len(flow.y) - 1) // 15
        assert dots.y == pytest.approx(flow.y[::step], abs=0.02)


def test_verify_on_the_command_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["verify", "example-3", "theorem-1", "--json", "--figures", str(tmp_path)])
    assert ended.value.code == 0
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert [(claim["id"], claim["verdict"]) for claim in claims] == [
        ("example-3", "fails as printed"),
        ("theorem-1", "holds with a correction"),
    ]
    assert {path.stem for path in tmp_path.glob("*.png")} == set(theory.FIGURES)
    with pytest.raises(SystemExit) as ended:
        main(["verify", "theorem-2x"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
