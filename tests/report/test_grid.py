"""The grid of extrapolation factors."""

from ldhd.experiments.reproduction import Outcome
from ldhd.report.grid import draw_grid


def outcome(task, label, factor, fitted=3):
    return Outcome(task, label, 3, fitted, 100, factor / 20, 3 * (factor / 20,), "untold", None, factor, 1000, 1.0)


def test_every_cell_says_how_far_it_gets_and_what_did_not_fit():
    figure = draw_grid(
        [outcome("copy", "ours", 20.0), outcome("copy", "rpe", 0.0, 1), outcome("parity", "rpe", 1.2)], "far"
    )
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["copy", "parity"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ours", "rpe"]
    texts = {(*map(round, text.get_position()), text.get_text()) for text in axes.texts}
    assert texts == {
        (0, 0, "20x"),
        (0, 0, "100 % at 100"),
        (0, 1, "0x"),
        (0, 1, "0 % at 100, 1/3 fitted"),
        (1, 1, "1.2x"),
        (1, 1, "6 % at 100"),
    }
