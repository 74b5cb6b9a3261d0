"""What is printed and drawn of a preset."""

from dataclasses import asdict
from pathlib import Path

from ldhd.experiments.presets import PRESETS
from ldhd.experiments.reproduction import Outcome
from ldhd.positions import POSITIONS
from ldhd.report.by_task import draw_by_task
from ldhd.report.plot import MOST_BANDS
from ldhd.report.reproduction import reproduction_view, write_reproduction
from ldhd.report.summary import Cell
from ldhd.report.terminal import print_view
from report.samples import config_of, record_of


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


def test_peers_are_drawn_as_curves_too_each_task_with_all_embeddings(tmp_path):
    configs = PRESETS["peers"].configs("quick")
    records = [record_of(config, beyond=1.0 if config.position == "latent-window" else 0.0) for config in configs]
    written = write_reproduction("peers", "quick", configs, records, tmp_path, "ldhd reproduce peers")
    assert {Path(path).name for path in written["figures"]} == {
        f"peers{which}.{kind}" for which in ("", "-curves") for kind in ("png", "pdf")
    }
    assert all(Path(path).stat().st_size > 1000 for path in written["figures"])


def test_a_panel_for_each_task_and_every_embedding_named_once():
    cells = {
        task: [
            Cell(task, name, "small", (record_of(config_of(task, name), beyond=far),), label=name)
            for name, far in found.items()
        ]
        for task, found in {"copy": {"rpe-square": 1.0, "rpe": 0.0}, "parity": {"rpe": 0.5}}.items()
    }
    figure = draw_by_task(cells, "far")
    copy, parity = figure.axes
    assert [axes.get_title("left") for axes in (copy, parity)] == ["copy", "parity"]
    assert [list(line.get_ydata()[-1:]) for line in copy.lines] == [[1.0], [0.0]]
    assert [list(line.get_ydata()[-1:]) for line in parity.lines] == [[0.5]]
    assert copy.lines[1].get_color() == parity.lines[0].get_color()
    assert copy.lines[0].get_marker() != copy.lines[1].get_marker() == parity.lines[0].get_marker()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["training scales", "rpe-square", "rpe"]
    assert [handle.get_color() for handle in legend.legend_handles[1:]] == [
        POSITIONS[name].color for name in ("rpe-square", "rpe")
    ]


def test_bands_are_left_out_where_they_would_hide_each_other():
    for count, bands in ((MOST_BANDS, MOST_BANDS), (MOST_BANDS + 1, 0)):
        records = tuple(record_of(config_of("copy", "rpe", seed), beyond=0.5) for seed in (0, 1))
        cells = [Cell("copy", "rpe", "small", records, label=str(number)) for number in range(count)]
        (axes,) = draw_by_task({"copy": cells}, "far").axes
        assert len(axes.lines) == count
        assert len(axes.collections) == 2 * bands  # with a band come its seeds
