"""A task of one's own: begun, checked, described, trained, and what is said where something is wrong with it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import ldhd as package
from contracts.command import ldhd
from ldhd.experiments import load_run
from ldhd.experiments.parts import load_task
from ldhd.tasks.contract import problems, sampled

SHORT = ("--steps", "2", "--train-scales", "1-2", "--test-scales", "1-3", "--workers", "1", "--out", "runs")
SHORT += ("--set", "test_instances=2", "--set", "train.batch_size=4", "--set", "train.samples=20")

REVERSAL = 'format = "b x:n = z:n e"\n[needs]\nx = "x[n-1-t]"\n[answer]\nz = "x"\n'
ADDITION = """
format = "b x:n + y:m = z:max(n,m)+1 e"
exchangeable = [["x", "y"], ["x_previous", "y_previous"]]
[needs]
x = "x[t]"
y = "y[t]"
x_previous = "x[t-1]"
y_previous = "y[t-1]"
z_previous = "z[t-1]"
[answer]
z = "x + y + (x_previous + y_previous + (z_previous - x_previous - y_previous) % 10) // 10"
"""
PARITY = """
base = 2
format = "b x:n = z:n e"
[needs]
x = "x[t]"
z_previous = "z[t-1]"
[answer]
z = "x + z_previous"
"""

MINE = """
from ldhd.tasks import TASKS, Format, LatentSpace, Needs, Task, Vocabulary, digits
from ldhd.tasks.copy import CopyFormat, Strings, identity


class Bare(Task):
    pass


class Half(Task):
    name = "half"
    latent = Strings
    format = CopyFormat()
    concept = staticmethod(identity)


class Whole(Task):
    name = "whole"
    latent = Strings(10)
    format = CopyFormat()
    concept = staticmethod(identity)


INSTANCE = Whole()


def factory():
    return Task("made", Strings(10), identity, CopyFormat())


def picky(base):
    return Task("picky", Strings(base), identity, CopyFormat())


class Endless(CopyFormat):
    def answer(self, latent, label):
        return digits.write(label)


ENDLESS = Task("endless", Strings(10), identity, Endless())
NUMBER = 3
"""


@pytest.fixture(autouse=True)
def _there(tmp_path, monkeypatch):
    """In an empty folder, from which modules are imported anew."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).parent == tmp_path:
            del sys.modules[name]


def write(name, text):
    Path(name).write_text(text)


def test_what_is_new_runs_as_it_is_written(capsys):
    for kind, name in (("task", "sum-of-two"), ("position", "NearBy")):
        code, out, error = ldhd(capsys, "new", kind, name)
        assert code == 0, error
        assert "pytest test_" in out
    files = sorted(Path().iterdir())
    assert list(map(str, files)) == ["near_by.py", "sum_of_two.py", "test_near_by.py", "test_sum_of_two.py"]
    assert not [path for path in files if re.search(r"my[-_ ]?(task|position)", path.read_text(), re.IGNORECASE)]
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout
    assert ldhd(capsys, "check", "sum_of_two:SumOfTwo")[0] == 0
    code, out, error = ldhd(capsys, "run", "sum_of_two:SumOfTwo", "--position", "near_by:NearBy", *SHORT)
    assert code == 0, error
    assert ldhd(capsys, "report", "runs", "--trust")[0] == 0


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("figure", "x", "unknown kind 'figure'; choose from task, position"),
        ("task", "copy", "there is a module copy already"),
        ("task", "torch", "there is a module torch already"),
        ("task", "lambda", "'lambda' means something in Python"),
        ("task", "3-sums", "begins with a letter, such as my-task, got '3-sums'"),
        ("task", "../x", "begins with a letter, such as my-task, got '../x'"),
        ("task", "", "begins with a letter, such as my-task, got ''"),
        ("task", "there", "test_there.py exists already; choose another name"),
    ],
)
def test_names_that_nothing_new_can_have(capsys, kind, name, message):
    write("test_there.py", "")
    code, _, error = ldhd(capsys, "new", kind, name)
    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert list(map(str, Path().iterdir())) == ["test_there.py"]


def test_a_task_is_a_class_an_instance_or_what_makes_one():
    write("mine.py", MINE)
    for name in ("Whole", "INSTANCE", "factory"):
        task = load_task(f"mine:{name}")
        assert task.read("b407=").answer == "407e"
        assert task.for_scales((1, 2)).train_scales == (1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Bare", "a task needs its name, latent, concept, format, as arguments or as attributes of its class"),
        ("Half", "the latent of 'mine:Half' is no instance of LatentSpace"),
        ("picky", "missing 1 required positional argument: 'base'"),
        ("NUMBER", "'mine:NUMBER' is no task"),
        ("Absent", "mine has no attribute 'Absent'"),
        ("ENDLESS", "endless: the answer '11111' to 'b11111=' must end with 'e', where a model stops writing"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(capsys, monkeypatch, name, message):
    write("mine.py", MINE)
    monkeypatch.setattr(torch, "randint", lambda high, size=(), **_: torch.ones(size, dtype=torch.long))
    code, _, error = ldhd(capsys, "run", f"mine:{name}", "--position", "rpe", "--workers", "1")
    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert not Path("runs").exists()


def test_a_check_says_what_is_wrong(capsys):
    write("mine.py", MINE)
    code, out, _ = ldhd(capsys, "check", "mine:ENDLESS")
    assert code == 1
    assert out.startswith("mine:ENDLESS: 2 problems\n")
    assert "must end with 'e'" in out
    code, out, _ = ldhd(capsys, "check", "mine:Whole", "--json")
    document = json.loads(out)
    assert (code, document["problems"]) == (0, [])
    assert any("whether the answers are right is not checked" in note for note in document["notes"])


def _sum(text):
    x, y = text.split("+")
    return str(int(x[::-1]) + int(y[::-1])).zfill(max(len(x), len(y)) + 1)[::-1]


def _parities(text):
    return "".join(str(text[: k + 1].count("1") % 2) for k in range(len(text)))


@pytest.mark.parametrize(
    ("text", "answer"), [(REVERSAL, lambda text: text[::-1]), (ADDITION, _sum), (PARITY, _parities)]
)
def test_a_description_makes_a_task(text, answer):
    write("mine.toml", text)
    described = load_task("mine.toml")
    assert problems(described) == []
    for instance in [*sampled(described, (1, 2, 5), 20), *described.hard(3)]:
        assert instance.answer == answer(instance.prompt[1:-1]) + "e"


def test_a_described_task_is_trained_tested_and_reported(capsys):
    write("reversal.toml", REVERSAL)
    code, _, error = ldhd(capsys, "run", "reversal.toml", "--position", "rpe", *SHORT)
    assert code == 0, error
    (folder,) = [path.parent for path in Path("runs").glob("*/record.json")]
    assert load_run(folder, trust=True)[1].read("b407=").answer == "704e"
    with pytest.raises(ValueError, match=r"names code of its own: reversal\.toml"):
        load_run(folder)
    assert ldhd(capsys, "show", folder, "b12=", "--trust")[0] == 0
    assert ldhd(capsys, "report", "runs", "--trust")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('[answer]\nz = "x"', "", 'it has no [answer] with a line such as z = "x", which says what each digit is'),
        ('z = "x"', 'y = "x"', '[answer] has a line such as z = "x" for each number after =: z'),
        ('z = "x"', "z = 3", 'answer.z is an expression such as "x + y", got 3'),
        ('z = "x"', 'z = "y"', "'y' in 'y' is unknown; there are n, t, x"),
        ('z = "x"', 'z = "x ** 2"', "is not allowed; use whole numbers, + - * // % max min"),
        ('z = "x"', 'z = "1 // (x - 1)"', "divides by zero"),
        ("[needs]", "base = 11\n[needs]", "base is a whole number from 2 to 10, got 11"),
        ('x = "x[', 'n = "x[', "which must have different names"),
    ],
)
def test_a_description_that_cannot_be_trained(capsys, old, new, message):
    write("mine.toml", REVERSAL.replace(old, new, 1))
    code, _, error = ldhd(capsys, "run", "mine.toml", "--position", "rpe")
    assert code == 2
    assert message in error
    assert error.count("\n") == 1


def test_a_description_in_another_folder_is_not_trained(capsys):
    code, _, error = ldhd(capsys, "run", "../mine.toml", "--position", "rpe")
    assert code == 2
    assert "lies in the current folder" in error


def test_division_by_zero_in_an_answer_is_refused(capsys):
    write("mine.toml", REVERSAL.replace('z = "x"', 'z = "1 // x"'))
    code, out, _ = ldhd(capsys, "check", "mine.toml")
    assert code == 1
    assert "'1 // x' divides by zero" in out
