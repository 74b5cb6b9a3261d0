"""What is printed and drawn of a preset."""

from dataclasses import asdict
from pathlib import Path

from ldhd.experiments.outcomes import Outcome, outcomes, preset_groups
from ldhd.experiments.presets import PRESETS
from ldhd.report import reproduction
from ldhd.report.preset_figures import preset_figures
from ldhd.report.render_matplotlib import draw
from ldhd.report.reproduction import predicted_verdicts, preset_view, write_preset
from ldhd.report.terminal import print_result
from report.samples import record_of


def test_a_mean_stands_beside_its_interval_over_seeds(capsys):
    outcome = Outcome("copy", "rpe", "rpe", 1, 2, 2, 10, 0.5, (0.48, 0.52), "low", True, 1.0, 1000, 1.0, successes=1)
    written = {
        "preset": "fig4",
        "title": "Copy",
        "says": "no",
        "assumed": [],
        "figures": [],
        "outcomes": [asdict(outcome)],
    }
    print_result({}, preset_view(written), as_json=False)
    # of the resamples of two values a quarter has the smaller one twice
    printed = capsys.readouterr().out
    assert "50                48-52" in printed
    assert "1/2 (9.5-90.5)" in printed


def test_what_is_not_all_right_is_not_printed_as_such(capsys):
    outcome = Outcome("copy", "rpe", "rpe", 1, 2, 2, 10, 0.9998, (1.0, 0.9996), "low", True, 1.0, 1000, 1.0)
    written = {"preset": "fig4", "title": "", "says": "", "assumed": [], "figures": [], "outcomes": [asdict(outcome)]}
    print_result({}, preset_view(written), as_json=False)
    assert " 99.9 " in capsys.readouterr().out


def test_the_prediction_stands_beside_the_measurement(capsys, tmp_path):
    """In the table, in the document and in the title of the panel."""
    preset = PRESETS["fig2c"]
    configs = preset.configs("quick")
    predicted = predicted_verdicts(configs)
    assert list(predicted.values()) == ["does not fit", "generalises"]
    records = [record_of(config, beyond=float(config.position == "rpe-square")) for config in configs]
    written = write_preset(preset, "quick", configs, records, tmp_path, "", predicted)
    assert [outcome["predicted"] for outcome in written["outcomes"]] == ["does not fit", "generalises"]
    print_result({}, preset_view(written), as_json=False)
    row = next(line for line in capsys.readouterr().out.splitlines() if " rpe-square " in line)
    assert row.split()[-6:] == ["generalises", "high", "as", "the", "paper", "says"]


def test_runs_with_fewer_steps_than_the_preset_are_not_judged(capsys, tmp_path):
    preset = PRESETS["fig2c"]
    configs = preset.configs("quick")
    records = [record_of(config, beyond=0.0) for config in configs]  # RPE-Square is not as the paper says
    for shortened, judgements in ((set(), [True, False]), ({configs[1].hash}, [True, None])):
        written = write_preset(preset, "quick", configs, records, tmp_path, "", {}, shortened)
        assert [outcome["agrees"] for outcome in written["outcomes"]] == judgements
        assert [outcome["short"] for outcome in written["outcomes"]] == [False, bool(shortened)]
        print_result({}, preset_view(written), as_json=False)
        assert ("too short to judge" in capsys.readouterr().out) == bool(shortened)


def test_titles_of_panels_name_the_prediction():
    preset = PRESETS["fig2c"]
    configs = preset.configs("quick")
    groups = preset_groups(preset, configs, [record_of(config) for config in configs])
    found = list(outcomes(preset, groups, {configs[0].hash: "fails"}))
    figure = draw(preset_figures(preset, groups, found)[preset.file_name])
    assert [axes.get_title("left") for axes in figure.axes if axes.axison] == ["RPE; predicted: fails", "RPE-Square"]


def test_the_predictor_is_asked_once_for_all_seeds_and_not_about_primed_runs(monkeypatch):
    asked = []
    monkeypatch.setattr(reproduction, "predict_run", lambda config: asked.append(config) or "fails")
    configs = PRESETS["fig2a"].configs("full")
    assert predicted_verdicts(configs) == {config.hash: "fails" for config in configs}
    assert len(asked) == 1
    monkeypatch.undo()
    primed = [config for config in PRESETS["priming"].configs("quick") if config.train.priming_scale]
    assert set(predicted_verdicts(primed).values()) == {None}


def test_every_view_has_a_figure():
    for name in ("fig1", "fig2d", "fig4", "cot", "priming", "depth", "ablation"):
        preset = PRESETS[name]
        configs = preset.configs("quick")
        groups = preset_groups(preset, configs, [record_of(config) for config in configs])
        figure = preset_figures(preset, groups, list(outcomes(preset, groups, {})))[preset.file_name]
        assert any(panel.marks for panel in figure.panels)


def test_shares_of_priming_are_named_once_below_the_panels():
    preset = PRESETS["priming"]
    configs = preset.configs("quick")
    groups = preset_groups(preset, configs, [record_of(config) for config in configs])
    found = list(outcomes(preset, groups, {configs[0].hash: "fails"}))
    figure = draw(preset_figures(preset, groups, found)[preset.file_name])
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == ["RPE; predicted: fails without them", "RPE-Square"]
    (legend,) = figure.legends
    shares = [f"{share} % of scale 5" for share in ("0", "0.1", "1", "10")]
    assert [text.get_text() for text in legend.get_texts()] == ["training scales", *shares]


def test_peers_are_drawn_as_curves_too_each_task_with_all_embeddings(tmp_path):
    configs = PRESETS["peers"].configs("quick")
    records = [record_of(config, beyond=1.0 if config.position == "latent-window" else 0.0) for config in configs]
    written = write_preset(PRESETS["peers"], "quick", configs, records, tmp_path, "ldhd reproduce peers", {})
    assert {Path(path).name for path in written["figures"]} == {
        f"peers{which}.{kind}" for which in ("", "-curves") for kind in ("png", "pdf")
    }
    assert all(Path(path).stat().st_size > 1000 for path in written["figures"])
