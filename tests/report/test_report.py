"""Verdicts, tables and figures from records."""

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Record, make_config
from ldhd.report.plot import plot_accuracy
from ldhd.report.summary import cells, per_position, told_apart
from ldhd.report.table import accuracy_table, digit_table


def record(position="rpe", seed=0, exact=(1.0, 0.0), fitted=True, model="small"):
    results = [
        ScaleResult(scale=scale, n=10, exact=value, low=0.0, high=1.0, per_token=value, per_position=[1.0, value])
        for scale, value in zip((5, 10), exact, strict=True)
    ]
    return Record(
        hash=f"{position}{seed}", task="copy", position=position, model=model, seed=seed, train_scales=[1, 2, 3, 4, 5],
        fitted=fitted, results=results, steps=1, seconds=1.0, threads=1, version="0", commit=None, command="",
    )  # fmt: skip


def rendered(table):
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(table)
    return console.export_text()


@pytest.mark.parametrize(
    ("values", "fitted", "verdict"),
    [
        ([1.0, 0.95, 0.2], [True] * 3, "generalises"),
        ([0.5, 0.4, 1.0], [True] * 3, "fails"),
        ([0.7, 0.8, 0.6], [True] * 3, "mixed"),
        ([0.0, 0.0, 0.0], [False] * 3, "not fitted"),
        ([1.0, 1.0], [True] * 2, "too few seeds"),
        ([1.0, 1.0, 1.0, 0.0, 0.0], [True, True, True, False, False], "generalises"),
    ],
)
def test_measured_verdicts(values, fitted, verdict):
    records = [
        record(seed=seed, exact=(1.0, v), fitted=f) for seed, (v, f) in enumerate(zip(values, fitted, strict=True))
    ]
    (cell,) = cells(records)
    assert cell.verdict() == verdict


def test_cells_keep_models_apart_and_failures_in():
    records = [record(), record(seed=1, fitted=False), record(model="gpt2"), record("rope")]
    assert [(cell.position, cell.model, len(cell.records), cell.fitted) for cell in cells(records)] == [
        ("rpe", "small", 2, 1),
        ("rpe", "gpt2", 1, 1),
        ("rope", "small", 1, 1),
    ]


def test_cells_keep_configs_apart_and_say_what_differs():
    """Options tell cells of one embedding apart; a model's name stands for its options; extended runs are others."""
    configs = [
        make_config("copy", "rpe", seed=seed, model=model, settings={"train.learning_rate": rate})
        for model in ("small", "small-2")
        for rate in (0.001, 0.002)
        for seed in (0, 1)
    ]
    configs.append(configs[0].model_copy(update={"extended_from": "0" * 12}))
    records = [record(seed=c.seed, model=c.model).model_copy(update={"hash": c.hash}) for c in configs]
    found = cells(records, {config.hash: config for config in configs})
    assert [(cell.label, len(cell.records)) for cell in found] == [
        ("rpe (small, train.learning_rate=0.001, extended=False)", 2),
        ("rpe (small, train.learning_rate=0.002)", 2),
        ("rpe (small-2, train.learning_rate=0.001)", 2),
        ("rpe (small-2, train.learning_rate=0.002)", 2),
        ("rpe (small, train.learning_rate=0.001, extended=True)", 1),
    ]
    assert told_apart([configs[0], configs[4]]) == ["model=small", "model=small-2"]


def test_success_needs_a_fit():
    """A seed succeeds if it fits and is right on 90 % at the largest scale."""
    outcomes = [(1.0, True), (0.9, True), (0.8, True), (1.0, False)]
    (cell,) = cells([record(seed=k, exact=(1.0, v), fitted=f) for k, (v, f) in enumerate(outcomes)])
    assert (cell.success().successes, cell.success().n) == (2, 4)


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
    assert per_position(cells([record(exact=(1.0, 0.25))])[0], 10) == [1.0, 0.25]
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
