"""Verdicts, tables and figures from records."""

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from ldhd.experiments.groups import group_runs
from ldhd.report.plot import plot_accuracy
from ldhd.report.table import accuracy_table, digit_table
from report.samples import plain_record as record


def rendered(table):
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(table)
    return console.export_text()


def test_table_shows_every_seed_s_range():
    text = rendered(accuracy_table([record(exact=(1.0, 0.2)), record(seed=1, exact=(1.0, 0.6), fitted=False)]))
    assert " 40 " in text
    assert "20-" in text
    assert " 60 " in text
    assert "1/2" in text
    assert "model small" in text


def test_rounding_never_hides_an_error():
    text = rendered(accuracy_table([record(exact=(0.9996, 0.0004))]))
    assert "99.9" in text
    assert "0.1" in text


def test_digit_table_is_about_scales_beyond_training():
    text = rendered(digit_table([record(exact=(1.0, 0.25))]))
    assert ["rpe", "10", "100", "25"] in [line.split() for line in text.splitlines()]
    assert " 5 " not in text
    assert group_runs([record(exact=(1.0, 0.25))])[0].per_position(10) == [1.0, 0.25]
    within = record().model_copy(update={"train_scales": list(range(1, 11))})
    assert digit_table([within]) is None


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_figure(tmp_path, suffix, magic):
    records = [record(), record(seed=1), record("rpe-square", exact=(1.0, 1.0)), record("my:Own", exact=(0.9, 0.5))]
    path = plot_accuracy(records, tmp_path / "sub" / f"figure.{suffix}")
    assert path.read_bytes().startswith(magic)


def test_figure_shades_training_and_bands_seeds(monkeypatch, tmp_path):
    """What is drawn, read off the axes: the training range, a line a cell at its mean, the 95 % band, every seed."""
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    plot_accuracy([record(exact=(1.0, 0.2)), record(seed=1, exact=(1.0, 0.6)), record("rope")], tmp_path / "f.png")
    (axes,) = drawn[0].axes
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert lines == {"rpe, 2 seeds": [1.0, pytest.approx(0.4)], "rope, 1 seed": [1.0, 0.0]}
    band = axes.collections[0].get_paths()[0].vertices
    assert {(10, 0.0), (10, 1.0)} <= {(float(x), float(y)) for x, y in band}  # 0.4 ± 12.7 * 0.2, clipped
    dots = {(float(x), float(y)) for x, y in axes.collections[1].get_offsets()}
    assert dots == {(5, 1.0), (10, 0.2), (10, 0.6)}
    shaded = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (shaded.x0, shaded.x1) == pytest.approx((0.5, 5.5))
