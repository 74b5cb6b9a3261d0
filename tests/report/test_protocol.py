"""The command of the protocol, end to end with few steps."""

import json

from ldhd.cli import main


def run(capsys, *arguments):
    try:
        main(list(arguments))
    except SystemExit as error:
        return error.code, capsys.readouterr()
    return 0, capsys.readouterr()


def test_trials_choice_and_runs_of_one_cell(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ldhd.experiments.protocol.TEST_SCALES", (1, 2, 3, 4, 5, 6))
    monkeypatch.setattr("ldhd.experiments.protocol.BUDGETS", (1, 2))
    out = str(tmp_path / "out")
    arguments = ["protocol", "--tasks", "copy", "--entrants", "none", "--seeds", "0", "--steps", "1", "--out", out]
    code, printed = run(capsys, *arguments, "--workers", "1", "--json")
    assert code == 0, printed.err
    document = json.loads(printed.out)
    assert len(document["trials"]) == 8
    best = max(document["trials"], key=lambda trial: (trial["worst"], -trial["loss"]))
    assert document["chosen"] == [best]
    (cell,) = document["cells"]
    assert cell["entrant"] == "none"
    assert cell["verdict"] == "does not fit"
    assert cell["steps_by_seed"] == {"0": 2}  # it does not fit with one step, so that it got two
    table = (tmp_path / "out" / "trials.md").read_text()
    assert table.count("\n") == 2 + 8
    assert table.count("| chosen |") == 2  # the heading, and the chosen one
    assert "does not fit (0/1 fit)" in (tmp_path / "out" / "comparison.md").read_text()
    assert (tmp_path / "out" / "budget-steps.png").exists()
    code, printed = run(capsys, *arguments, "--finished", "--json")
    assert {**json.loads(printed.out), "command": ""} == {**document, "command": ""}


def test_bad_names_end_with_one_line(tmp_path, capsys):
    code, printed = run(capsys, "protocol", "--entrants", "rop", "--out", str(tmp_path))
    assert code == 2
    assert "unknown entrant 'rop'" in printed.err
    assert printed.err.count("\n") == 1
