"""What is printed of a preset."""

from dataclasses import asdict

from ldhd.experiments.reproduction import Outcome
from ldhd.report.reproduction import reproduction_view
from ldhd.report.terminal import print_view


def test_a_mean_stands_beside_its_interval_over_seeds(capsys):
    outcome = Outcome("copy", "rpe", "rpe", 1, 2, 2, 10, 0.5, (0.48, 0.52), "low", True, 1.0, 1000, 1.0)
    written = {
        "preset": "fig4",
        "title": "Copy",
        "says": "no",
        "assumed": [],
        "figures": [],
        "outcomes": [asdict(outcome)],
    }
    print_view(reproduction_view(written))
    # Student's t with one degree of freedom: 12.706 standard errors of 0.02
    assert "50                24.6-75.4" in capsys.readouterr().out


def test_what_is_not_all_right_is_not_printed_as_such(capsys):
    outcome = Outcome("copy", "rpe", "rpe", 1, 2, 2, 10, 0.9998, (1.0, 0.9996), "low", True, 1.0, 1000, 1.0)
    written = {"preset": "fig4", "title": "", "says": "", "assumed": [], "figures": [], "outcomes": [asdict(outcome)]}
    print_view(reproduction_view(written))
    assert " 99.9 " in capsys.readouterr().out
