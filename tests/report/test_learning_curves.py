"""Learning curves and the places of errors, from records and metrics made by hand."""

import pytest

from ldhd.experiments.groups import group_runs
from ldhd.report.figures.accuracy import carry_panel, error_panel
from ldhd.report.figures.learning_curves import MOST_ROWS, explanation, learning_curve, learning_curve_figure
from report.samples import config_of, metrics_of, record_of


def group_of(outcomes, carries=None):
    """A group of (within, beyond) for each seed."""
    configs = [config_of(seed=seed) for seed in range(len(outcomes))]
    rows = zip(configs, outcomes, strict=True)
    records = [record_of(config, beyond, within, carries) for config, (within, beyond) in rows]
    return group_runs(records, {config.hash: config for config in configs})[0]


def test_outcomes_of_seeds():
    group = group_of([(1.0, 0.9), (1.0, 0.85), (0.4, 1.0)])
    assert [learning_curve(record, group, []).outcome for record in group.records] == [
        "right",
        "falls short",
        "does not fit",
    ]


def test_a_learning_curve_reads_what_the_rows_have():
    group = group_of([(1.0, 1.0)])
    (record,) = group.records
    found = learning_curve(record, group, metrics_of())
    assert found.steps == list(range(50, 401, 50))
    assert found.accuracy[:2] == pytest.approx([0.125 * 5 / 4, 0.25 * 5 / 4])
    assert found.entropy[-1] == pytest.approx((0.1 + 0.2) / 2)
    weights, slots = found.weakest
    assert (weights[0], weights[-1]) == pytest.approx((0.1 + 0.88 / 8, 0.9))
    assert (slots[0], slots[-1]) == ("x", "previous")
    older = learning_curve(record, group, metrics_of(whole=False))
    assert (older.entropy, older.needed, older.weakest) == ([], {}, ([], []))
    assert older.accuracy == found.accuracy
    gap = metrics_of()
    del gap[3]["needed"]["x"]
    assert list(learning_curve(record, group, gap).needed) == ["previous"]


def test_long_learning_curves_are_thinned_and_keep_their_ends():
    group = group_of([(1.0, 1.0)])
    rows = [{"step": step, "accuracy": {"4": 0.5}} for step in range(1, 1001)]
    steps = learning_curve(group.records[0], group, rows).steps
    assert (len(steps), steps[0], steps[-1]) == (MOST_ROWS, 1, 1000)


def test_explanation_puts_a_failed_seed_beside_the_right_ones():
    group = group_of([(1.0, 1.0), (1.0, 1.0), (0.4, 0.1)])
    curves = [learning_curve(record, group, metrics_of(record.fitted)) for record in group.records]
    text = explanation(curves[2], curves)
    assert "exact match at scale 4: 37.5 % (seeds that went right: 100.0 %)" in text
    assert "anchor entropy: 1.45 nats (seeds that went right: 0.15 nats)" in text
    assert "attention on its weakest slot, x: 0.36 (seeds that went right: 0.98)" in text
    assert "seeds that went right" not in explanation(curves[2], curves[2:])


def test_a_line_for_each_seed_and_a_panel_for_each_quantity_that_was_measured():
    group = group_of([(1.0, 1.0), (0.4, 0.1)])
    curves = [learning_curve(record, group, metrics_of(record.fitted)) for record in group.records]
    fit, entropy, weakest = learning_curve_figure(curves, "copy").panels
    assert [list(line.y) for line in fit.marks] == [curve.accuracy for curve in curves]
    assert [line.y[-1] for line in entropy.marks] == [curve.entropy[-1] for curve in curves]
    assert list(weakest.marks[0].texts) == curves[0].weakest[1]
    assert [line.link for line in weakest.marks] == [f"run-{record.hash}" for record in group.records]
    older = [learning_curve(record, group, metrics_of(whole=False)) for record in group.records]
    assert [panel.y.label for panel in learning_curve_figure(older, "copy").panels] == ["fit"]
    assert learning_curve_figure([learning_curve(group.records[0], group, [])], "copy") is None


def test_error_map_averages_seeds_and_leaves_blank_what_was_not_asked():
    group = group_of([(1.0, 0.0), (1.0, 1.0)])
    panel = error_panel(group)
    values = panel.marks[0].values
    assert list(panel.y.tick_labels) == ["1", "2", "3", "4", "5", "6", "8"]
    assert values[0] == [0.0, 0.0] + [None] * 7
    assert values[-1] == pytest.approx([(k + 1) / 18 for k in range(9)])


def test_carry_map_counts_beyond_training_only():
    """Three test scales lie beyond training, and there are two seeds: six times each count."""
    group = group_of([(1.0, 1.0), (1.0, 0.5)], carries=[(0, 0, 10, 10), (1, 0, 9, 10), (1, 1, 1, 4), (2, 1, 0, 0)])
    panel = carry_panel(group)
    (heat_map,) = panel.marks
    assert list(panel.y.tick_labels) == ["0", "1"]
    assert heat_map.values == [[0.0, pytest.approx(0.1)], [None, 0.75]]
    assert heat_map.counts == [[60, 60], [0, 24]]
    assert carry_panel(group_of([(1.0, 1.0)])) is None
