"""Figures as data, and what the two renderers make of them."""

from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ldhd.experiments.groups import Group
from ldhd.positions import POSITIONS
from ldhd.report.figures.accuracy import MOST_BANDS, accuracy_figure, accuracy_panels
from ldhd.report.figures.marks import HeatMap, Line, Text
from ldhd.report.figures.strings import string_figure, string_picture
from ldhd.report.render_matplotlib import draw, save_figure
from ldhd.report.render_plotly import to_plotly
from report.samples import config_of, grouped, record_of, trace_of
from report.samples import plain_record as seed_of


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_figure_is_saved_as_its_suffix_says(tmp_path, suffix, magic):
    records = [seed_of(), seed_of(seed=1), seed_of("rpe-square", exact=(1.0, 1.0)), seed_of("my:Own", exact=(0.9, 0.5))]
    path = save_figure(accuracy_figure(grouped(records)), tmp_path / "sub" / f"figure.{suffix}")
    assert path.read_bytes().startswith(magic)


def labelled(axes):
    """The lines that the legend names."""
    return [line for line in axes.lines if not line.get_label().startswith("_")]


def points_of(lines):
    return {(float(x), float(y)) for line in lines for x, y in line.get_xydata()}


def test_accuracy_is_shaded_banded_and_dotted():
    """What print shows: the training range, a line a group at its mean, the 95 % band, every seed."""
    records = [seed_of(exact=(1.0, 0.2)), seed_of(seed=1, exact=(1.0, 0.6)), seed_of("rope")]
    (axes,) = draw(accuracy_figure(grouped(records))).axes
    lines = {line.get_label(): list(line.get_ydata()) for line in labelled(axes)}
    assert lines == {"RPE, 2 seeds": [1.0, pytest.approx(0.4)], "RoPE, 1 seed": [1.0, 0.0]}
    band = axes.collections[0].get_paths()[0].vertices
    assert {(10, 0.2), (10, 0.6)} <= {(float(x), float(y)) for x, y in band}
    dots = points_of([axes.lines[0]])
    assert dots == {(5, 1.0), (10, 0.2), (10, 0.6)}
    shaded = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (shaded.x0, shaded.x1) == pytest.approx((0.5, 5.5))


def test_page_and_print_show_the_same_numbers():
    """Both renderers read one figure: the same lines, bands and points, under the same names."""
    records = [seed_of(exact=(1.0, 0.2)), seed_of(seed=1, exact=(1.0, 0.6), fitted=False), seed_of("none")]
    figure = accuracy_figure(grouped(records), links={"rpe": "cell-0", "none": "cell-1"})
    (axes,) = draw(figure).axes
    traces = to_plotly(figure, 400)["data"]
    means = {trace["name"]: (trace["x"], trace["y"]) for trace in traces if trace["meta"] == "mean"}
    assert means == {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in labelled(axes)}
    assert list(means) == ["RPE, 2 seeds, 1 fitted", "NoPE, 1 seed"]
    seeds = [trace for trace in traces if trace["meta"] == "seeds"]
    assert [trace["marker"]["symbol"] for trace in seeds] == ["circle", "x", "circle"]
    points = {point for trace in seeds for point in zip(trace["x"], trace["y"], strict=True)}
    assert points == points_of([line for line in axes.lines if line not in labelled(axes)])
    (band,) = [trace for trace in traces if trace["meta"] == "band"]
    edge = {(float(x), float(y)) for x, y in axes.collections[0].get_paths()[0].vertices}
    assert set(zip(band["x"], band["y"], strict=True)) <= edge


def test_a_legend_is_never_cut():
    """The figure grows by what a legend with long labels takes, and titles shrink to its width."""
    groups = [replace(group, label=f"rpe ({'very ' * 20}long)") for group in grouped([seed_of(), seed_of("rope")])]
    figure = draw(accuracy_figure(groups, title="very long " * 20))
    FigureCanvasAgg(figure).draw()
    (legend,) = figure.legends
    for part in (legend, figure._suptitle):
        box = part.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def test_the_first_anchor_and_the_strongest_head_are_printed():
    picture = string_picture("copy", trace_of(output="31411e"))
    (panel,) = string_figure(picture, "copy").panels
    lines = [mark for mark in panel.marks if isinstance(mark, Line)]
    arcs = {(round(line.x[-1]), round(line.x[0])) for line in lines if len(line.x) > 5}
    assert arcs == {(j, 0) for j in range(1, 6)} | {(j, 6) for j in range(7, 13)}
    assert "5 not 1" in [mark.text for mark in panel.marks if isinstance(mark, Text)]
    needed = [line for line in lines if line.style.color == "#000000"]
    assert [(round(sum(box.x[:2]) / 2), round(sum(box.y[1:3]) / 2)) for box in needed] == [(k + 1, k) for k in range(5)]
    (attention,) = [mark.values for mark in panel.marks if isinstance(mark, HeatMap)]
    assert attention[0][1] == picture["views"]["attention"]["all"][0][1] / 1000
    heads = picture["views"]["attention"]
    assert heads["all"][0] == [max(pair) for pair in zip(heads["0.0"][0], heads["0.1"][0], strict=True)]


def test_a_panel_for_each_task_and_every_embedding_named_once():
    groups = {
        task: [
            Group(task, name, "small", (record_of(config_of(task, name), beyond=far),), None, (), name)
            for name, far in found.items()
        ]
        for task, found in {"copy": {"rpe-square": 1.0, "rpe": 0.0}, "parity": {"rpe": 0.5}}.items()
    }
    figure = draw(accuracy_panels(groups, "far"))
    copy, parity = figure.axes
    assert [axes.get_title("left") for axes in (copy, parity)] == ["copy", "parity"]
    assert [list(line.get_ydata()[-1:]) for line in labelled(copy)] == [[1.0], [0.0]]
    assert [list(line.get_ydata()[-1:]) for line in labelled(parity)] == [[0.5]]
    (square, rpe), (again,) = labelled(copy), labelled(parity)
    assert rpe.get_color() == again.get_color()
    assert square.get_marker() != rpe.get_marker() == again.get_marker()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["training scales", "RPE-Square", "RPE"]
    assert [handle.get_color() for handle in legend.legend_handles[1:]] == [
        POSITIONS[name].color for name in ("rpe-square", "rpe")
    ]


def test_bands_are_left_out_where_they_would_hide_each_other():
    for count, bands in ((MOST_BANDS, MOST_BANDS), (MOST_BANDS + 1, 0)):
        records = tuple(record_of(config_of("copy", "rpe", seed), beyond=0.5) for seed in (0, 1))
        groups = [Group("copy", "rpe", "small", records, None, (), str(number)) for number in range(count)]
        (axes,) = draw(accuracy_panels({"copy": groups}, "far")).axes
        assert len(labelled(axes)) == count
        assert len(axes.collections) == bands
        assert len(axes.lines) == 2 * count  # the mean, and every seed
