"""Tables from records."""

from rich.console import Console

from ldhd.report.output import accuracy_table, digit_table
from report.samples import grouped
from report.samples import plain_record as record


def rendered(table):
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(table)
    return console.export_text()


def test_table_shows_every_seed_s_range():
    text = rendered(accuracy_table(grouped([record(exact=(1.0, 0.2)), record(seed=1, exact=(1.0, 0.6), fitted=False)])))
    assert " 40 " in text
    assert "20-" in text
    assert " 60 " in text
    assert "1/2" in text
    assert "model small" in text


def test_rounding_never_hides_an_error():
    text = rendered(accuracy_table(grouped([record(exact=(0.9996, 0.0004))])))
    assert "99.9" in text
    assert "0.1" in text


def test_digit_table_is_about_scales_beyond_training():
    text = rendered(digit_table(grouped([record(exact=(1.0, 0.25))])))
    assert ["rpe", "10", "100", "25"] in [line.split() for line in text.splitlines()]
    assert " 5 " not in text
    (group,) = grouped([record(exact=(1.0, 0.25))])
    assert [mean.value for mean in group.per_position(10)] == [1.0, 0.25]
    within = record().model_copy(update={"train_scales": list(range(1, 11))})
    assert digit_table(grouped([within])) is None
