"""Why seeds fail and where errors are, from records and metrics made by hand."""

import pytest

from ldhd.report.errors import carry_map, error_map
from ldhd.report.summary import cells
from ldhd.report.training import MOST_ROWS, course, explanation
from report.samples import config_of, metrics_of, record_of


def cell_of(outcomes, carries=None):
    """A cell of (within, beyond) for each seed."""
    records = [
        record_of(config_of(seed=k), beyond, within, carries) for k, (within, beyond) in enumerate(outcomes)
    ]  # fmt: skip
    return cells(records)[0]


def test_fates():
    cell = cell_of([(1.0, 0.9), (1.0, 0.85), (0.4, 1.0)])
    assert [course(record, cell, []).fate for record in cell.records] == ["right", "falls short", "not fitted"]


def test_a_course_reads_what_the_rows_have():
    cell = cell_of([(1.0, 1.0)])
    (record,) = cell.records
    found = course(record, cell, metrics_of())
    assert found.steps == list(range(50, 401, 50))
    assert found.accuracy[:2] == pytest.approx([0.125 * 5 / 4, 0.25 * 5 / 4])
    assert found.entropy[-1] == pytest.approx((0.1 + 0.2) / 2)
    assert found.weakest[-1] == pytest.approx(0.9)
    assert (found.weakest_slots[0], found.weakest_slots[-1]) == ("x", "previous")
    assert found.weakest[0] == pytest.approx(0.1 + 0.88 / 8)
    older = course(record, cell, metrics_of(whole=False))
    assert (older.entropy, older.needed, older.weakest) == ([], {}, [])
    assert older.accuracy == found.accuracy
    gap = metrics_of()
    del gap[3]["needed"]["x"]
    assert list(course(record, cell, gap).needed) == ["previous"]


def test_long_courses_are_thinned_and_keep_their_ends():
    cell = cell_of([(1.0, 1.0)])
    rows = [{"step": step, "accuracy": {"4": 0.5}} for step in range(1, 1001)]
    steps = course(cell.records[0], cell, rows).steps
    assert (len(steps), steps[0], steps[-1]) == (MOST_ROWS, 1, 1000)


def test_explanation_puts_a_failed_seed_beside_the_right_ones():
    cell = cell_of([(1.0, 1.0), (1.0, 1.0), (0.4, 0.1)])
    courses = [course(record, cell, metrics_of(record.fitted)) for record in cell.records]
    text = explanation(courses[2], courses)
    assert "exact match at scale 4: 37.5 % (seeds that went right: 100.0 %)" in text
    assert "anchor entropy: 1.45 nats (seeds that went right: 0.15 nats)" in text
    assert "attention on its weakest slot, x: 0.36 (seeds that went right: 0.98)" in text
    assert "seeds that went right" not in explanation(courses[2], courses[2:])


def test_error_map_averages_seeds_and_leaves_blank_what_was_not_asked():
    cell = cell_of([(1.0, 0.0), (1.0, 1.0)])
    scales, values = error_map(cell)
    assert scales == [1, 2, 3, 4, 5, 6, 8]
    assert values[0] == [0.0, 0.0] + [None] * 7
    assert values[-1] == pytest.approx([(k + 1) / 18 for k in range(9)])


def test_carry_map_counts_beyond_training_only():
    """Three test scales lie beyond training, and there are two seeds: six times each count."""
    cell = cell_of([(1.0, 1.0), (1.0, 0.5)], carries=[(0, 0, 10, 10), (1, 0, 9, 10), (1, 1, 1, 4), (2, 1, 0, 0)])
    lengths, values, counts = carry_map(cell)
    assert lengths == [0, 1]
    assert values == [[0.0, pytest.approx(0.1)], [None, 0.75]]
    assert counts == [[60, 60], [0, 24]]
    assert carry_map(cell_of([(1.0, 1.0)])) is None
