"""Scores: the checker, the four routes, and models that misbehave."""

import json
import sys
from pathlib import Path

import pytest

from contracts.command import ldhd
from ldhd.score.checker import ANSWERS, right_answer
from ldhd.score.contestants import Contestant, contestant
from ldhd.score.scoring import score
from ldhd.score.suite import SCALES, random_instances
from ldhd.tasks import TASKS

COPIER = "import sys\nfor line in sys.stdin:\n    print(line.strip()[1:-1] + 'e')\n"


@pytest.fixture
def program(tmp_path):
    """Write a Python program and return the name of its route."""

    def write(text: str) -> str:
        path = tmp_path / "model.py"
        path.write_text(text)
        return f"program:{sys.executable} {path}"

    return write


def copied(prompts, longest):
    return [prompt[1:-1] + "e" for prompt in prompts]


def test_every_built_in_task_has_an_independent_checker():
    assert ANSWERS.keys() == TASKS.keys()
    for name, task in TASKS.items():
        for scale in (1, 3, 12):
            own = task.for_scales([scale])
            for instance in [*random_instances(own, scale)[:20], *own.hard(scale)]:
                assert right_answer(name, instance.prompt) == instance.answer


def test_the_suite_is_fixed():
    first = random_instances(TASKS["copy"], 3)
    assert [instance.prompt for instance in first] == [i.prompt for i in random_instances(TASKS["copy"], 3)]
    assert [instance.prompt for instance in first[:2]] == ["b072=", "b401="]
    assert len(first) == 100
    assert len(random_instances(TASKS["copy"], 1000)) == 10


def test_factor_and_shares():
    def half(prompts, longest):
        return [p[1:-1] + ("e" if len(p) < 12 else "") for p in prompts]

    found = score(Contestant("half", half), "copy", largest=20)
    assert found.factor == 8 / 5
    assert [one.random.exact for one in found.scales] == [1.0] * 7 + [0.0] * 2
    assert [one.scale for one in found.scales] == [scale for scale in SCALES if scale <= 20]
    assert score(Contestant("half", half), "copy", largest=20, trained_to=2).factor == 4


def test_one_model_has_one_score_by_every_route(program, tmp_path, monkeypatch):
    """The packaged model that copies, by its name, as a function, as a program and exported to transformers."""
    pytest.importorskip("transformers")
    from ldhd.hf import export_run
    from ldhd.score import contestants

    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "scored_model.py").write_text(
        "from pathlib import Path\nfrom ldhd.evaluate.accuracy import answers\nfrom ldhd.experiments import load_run\n"
        "_, _, MODEL = load_run(Path('copy'))\n\n\ndef answer(prompts):\n    return answers(MODEL, prompts, 12)\n"
    )
    script = program(
        "import sys\nsys.path.insert(0, sys.argv[0].rpartition('/')[0])\nimport scored_model\n"
        "print(*scored_model.answer(sys.stdin.read().split()), sep='\\n')\n"
    )
    monkeypatch.setattr(contestants, "BATCH", 200)
    export_run(Path("copy"), tmp_path / "exported")
    routes = ["copy", "python:scored_model:answer", script, f"hf:{tmp_path / 'exported'}"]
    found = [score(contestant(route, 120, False), "copy", largest=2) for route in routes]
    assert all(one.scales == found[0].scales for one in found)
    assert found[0].scales[-1].hard.exact == 1.0
    assert found[0].parameters == found[3].parameters
    assert found[1].parameters is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print('1e')", "wrote 1 answers to 110 prompts at scale 1"),
        ("import time; time.sleep(60)", "did not answer 110 prompts within 0.5 s"),
        ("raise SystemExit('no weights')", "ended with exit code 1: no weights"),
        ("import os; os.close(0); os._exit(3)", "ended with exit code 3"),
    ],
)
def test_programs_that_misbehave_are_reported_in_one_line(capsys, program, text, message):
    options = ["--task", "copy", "--max-scale", 1, "--timeout", 0.5 if "sleep" in text else 60]
    code, _, error = ldhd(capsys, "score", program(text), *options)
    assert code == 2
    assert message in error
    assert error.count("\n") == 1


def test_garbage_is_wrong_and_no_error(program):
    text = "import sys\nfor line in sys.stdin: sys.stdout.buffer.write(b'\\xff\\x00 garbage\\n')\n"
    found = score(contestant(program(text), 60, False), "copy", largest=1)
    assert (found.scales[0].random.exact, found.factor) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("program:", "names no model"),
        ("program:'", "cannot be read as a command"),
        ("program:/does/not/exist", "cannot be started"),
        ("python:no_such_module:f", "cannot load function"),
        ("python:math:pi", "is no function"),
        ("python:math:sqrt", "failed: TypeError"),
        ("hf:/does/not/exist", "no such folder"),
        ("/does/not/exist", "no run at"),
        ("parity", "trained on parity, not on copy"),
    ],
)
def test_models_that_do_not_exist(capsys, model, message):
    code, _, error = ldhd(capsys, "score", model, "--task", "copy", "--max-scale", 1)
    assert code == 2
    assert message in error


def test_command_and_leaderboard(capsys, program, tmp_path):
    stored = tmp_path / "scores" / "copier.json"
    code, out, _ = ldhd(
        capsys, "score", program(COPIER), "--task", "copy", "--max-scale", 10, "--out", stored, "--json"
    )
    assert code == 0
    document = json.loads(out)
    assert document == json.loads(stored.read_text())
    assert document["scales"][0]["random"] == {"n": 100, "exact": 1.0}
    assert document["factor"] == 2
    page = tmp_path / "leaderboard.md"
    code, _, _ = ldhd(capsys, "leaderboard", stored.parent, "--out", page)
    assert code == 0
    assert "## copy" in page.read_text()
    assert "| 100, 100 | not measured | not measured |" in page.read_text()
    (stored.parent / "other.json").write_text('{"a": 1}')
    code, _, error = ldhd(capsys, "leaderboard", stored.parent, "--out", page)
    assert code == 2
    assert "is no score" in error


def test_unknown_task(capsys, program):
    code, _, error = ldhd(capsys, "score", program(COPIER), "--task", "primes")
    assert code == 2
    assert "no suite for the task 'primes'" in error
