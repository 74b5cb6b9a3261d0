"""The grid of extrapolation factors."""

from ldhd.experiments.outcomes import Outcome, smallest_depths
from ldhd.report.figures.marks import HeatMap, Text
from ldhd.report.preset_figures import factor_figure


def outcome(task, label, factor, fitted=3, layers=1, seeds=3):
    exact, position = factor / 20, label.split(",")[0]
    return Outcome(
        task,
        label,
        position,
        layers,
        seeds,
        fitted,
        100,
        exact,
        seeds * (exact,),
        "unspecified",
        None,
        factor,
        1000,
        1.0,
    )


def texts(figure):
    (panel,) = figure.panels
    return [mark for mark in panel.marks if isinstance(mark, Text)]


def test_every_cell_says_how_far_it_gets_and_what_did_not_fit():
    figure = factor_figure(
        [outcome("copy", "ours", 20.0), outcome("copy", "rpe", 0.0, 1), outcome("parity", "rpe", 1.2)], "far"
    )
    (panel,) = figure.panels
    assert list(panel.x.tick_labels) == ["copy", "parity"]
    assert list(panel.y.tick_labels) == ["ours", "RPE"]
    (heat_map,) = [mark for mark in panel.marks if isinstance(mark, HeatMap)]
    assert heat_map.values == [[20.0, None], [None, 1.2]]
    assert {(round(text.x), round(text.y), text.text) for text in texts(figure)} == {
        (0, 0, "20x"),
        (0, 0, "100 % at 100"),
        (0, 1, "does not fit"),
        (0, 1, "0 % at 100, 1/3 fitted"),
        (1, 1, "1.2x"),
        (1, 1, "6 % at 100"),
    }


def test_cells_with_fewer_seeds_than_others_say_so():
    figure = factor_figure([outcome("copy", "ours", 20.0), outcome("copy", "rpe", 1.0, fitted=1, seeds=1)], "far")
    assert {text.text for text in texts(figure)} == {"20x", "100 % at 100", "1x", "5 % at 100, 1 seed"}
    assert figure.title == "far; 3 seeds"


def test_of_several_depths_the_first_that_most_seeds_fit():
    depths = [
        outcome("copy", f"{name}, {layers} layers", factor, fitted, layers)
        for name, found in (("rope", ((1, 0.4, 1), (2, 1.0, 2), (3, 2.0, 3))), ("none", ((1, 0.2, 0), (2, 0.6, 1))))
        for layers, factor, fitted in found
    ]
    unknown = outcome("copy", "rpe, 2 layers", 2.0, layers=2)  # its one layer is still to be trained
    found = smallest_depths([*depths, unknown])
    assert [(one.label, one.layers, one.factor) for one in found] == [("rope", 2, 1.0), ("none", 2, 0.6)]
    shown = {text.text for text in texts(factor_figure(found, "far", depths=True))}
    assert "2 layers, 5 % at 100, 2/3 fitted" in shown
