"""The ledger and the pictures of the theory, as a user sees them."""

import json

import pytest
from matplotlib.figure import Figure

from ldhd.cli import main
from ldhd.report import theory_figures


def test_every_picture_has_marks(tmp_path):
    for name, draw in theory_figures.FIGURES.items():
        figure = Figure(layout="constrained")
        draw(figure)
        for axes in figure.axes:
            assert axes.lines or axes.patches or axes.images, name


def test_grpe_dots_lie_on_their_lines():
    figure = Figure()
    theory_figures.grpe_dynamics(figure)
    lines = figure.axes[0].lines
    for flow, dots in zip(lines[::2], lines[1::2], strict=True):
        step = (len(flow.get_ydata()) - 1) // 15
        assert dots.get_ydata() == pytest.approx(flow.get_ydata()[::step], abs=0.02)


def test_verify_on_the_command_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["verify", "example-3", "theorem-1", "--json", "--figures", str(tmp_path)])
    assert ended.value.code == 0
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert [(claim["id"], claim["verdict"]) for claim in claims] == [
        ("example-3", "fails as printed"),
        ("theorem-1", "holds with a correction"),
    ]
    assert {path.stem for path in tmp_path.glob("*.png")} == set(theory_figures.FIGURES)
    with pytest.raises(SystemExit) as ended:
        main(["verify", "theorem-2x"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
