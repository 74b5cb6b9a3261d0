"""The tutorials do what they say: their modules are written, their commands are given, with little training."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from contracts.command import ldhd
from ldhd.experiments.parts import load_task

ROOT = Path(__file__).parent.parent
SHORT = ("--steps", "2", "--set", "test_instances=2", "--set", "train.batch_size=4", "--workers", "1")
"""What is added to a run, and replaces its own scales."""


def commands(page):
    return [
        shlex.split(line.split("#")[0])
        for block in re.findall(r"```sh\n(.*?)```", page, re.S)
        for line in block.splitlines()
        if line.startswith("ldhd ")
    ]


def write_files(page):
    for module, code in re.findall(r"Save this as `(\w+\.py)`.*?```python\n(.*?)```", page, re.S):
        Path(module).write_text(code)
    for name, text in re.findall(r"`(\w+\.toml)`:\n\n```toml\n(.*?)```", page, re.S):
        Path(name).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure-2", "task", "embedding"])
def test_every_command_of_a_tutorial_works(name, tmp_path, monkeypatch, capsys):
    page = (ROOT / f"docs/tutorials/{name}.md").read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write_files(page)
    given = commands(page)
    assert len(given) >= 2
    for _, command, *arguments in given:
        if command == "run":
            arguments += [*SHORT, "--train-scales", "1-2", "--test-scales", "1-3"]
        runs = [path.parent for path in Path().glob("*/*/record.json")]
        arguments = [str(runs[0]) if argument.endswith("/RUN") else argument for argument in arguments]
        code, out, error = ldhd(capsys, command, *arguments)
        assert code == 0, error
        assert out


@pytest.mark.slow
@pytest.mark.parametrize("script", ["my_attention.py", "my_gpt2.py"])
def test_the_scripts_of_a_tutorial_work(script, tmp_path, monkeypatch, capsys):
    if script == "my_gpt2.py":
        pytest.importorskip("transformers", minversion="5")
    page = (ROOT / "docs/tutorials/attention.md").read_text()
    files = dict(re.findall(r"Save this as `(\w+\.py)`.*?```python\n(.*?)```", page, re.S))
    assert f"python {script}\n" in page
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "copies", raising=False)
    Path("copies.py").write_text(files["copies.py"].replace("steps = 600", "steps = 3"))
    exec(files[script], {})
    printed = capsys.readouterr().out
    assert re.search(r"^scale 10: \d+%$", printed, re.M)
    assert script != "my_gpt2.py" or "b3141592653=" in printed


@pytest.mark.slow
def test_the_transcript_is_what_the_commands_print(tmp_path, monkeypatch, capsys):
    """Each line that is shown is printed, in this order; `...` stands for the rest of a line, or for further lines.

    The run is short here, so that its figures are not compared.
    """
    page = (ROOT / "docs/tutorials/task.md").read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    shown = "".join(re.findall(r"```console\n(.*?)```", page, re.S))
    for command, lines in re.findall(r"^\$ (.*)\n((?:[^$].*\n|\n)*)", shown, re.M):
        words = shlex.split(command)
        if words[0] == "pytest":
            continue  # the test of `ldhd new` does that
        given = [*SHORT, "--train-scales", "1-2", "--test-scales", "1-3"] if words[1] == "run" else []
        code, out, error = ldhd(capsys, *words[1:], *given)
        assert code == 0, error
        printed = iter([line.rstrip() for line in out.splitlines()])
        for line in lines.splitlines() if words[1] != "run" else []:
            start = line.rstrip().removesuffix("...").rstrip()
            assert any(found.startswith(start) if line.endswith("...") else found == start for found in printed), line


def test_the_description_of_the_tutorial_is_addition(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/tutorials/task.md").read_text()
    (text,) = [text for text in re.findall(r"```toml\n(.*?)```", page, re.S) if "+ y:m" in text]
    Path("sum.toml").write_text(text)
    task = load_task("sum.toml")
    for x, y in ((0, 0), (7, 8), (99, 1), (12345, 98765), (5, 99999)):
        total = str(x + y).zfill(1 + max(len(str(x)), len(str(y))))[::-1]
        assert task.read(f"b{str(x)[::-1]}+{str(y)[::-1]}=").answer == f"{total}e"


def test_the_task_of_the_tutorial_is_right(tmp_path, monkeypatch):
    page = (ROOT / "docs/tutorials/task.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (tmp_path / "add_two.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    task = load_task("add_two:ADD_TWO")
    for number in (0, 7, 8, 19, 98, 998, 12345):
        written = str(number)[::-1]
        assert task.read(f"b{written}=").answer == f"{str(number + 2)[::-1]}e"
    for instance in [*task.hard(1), *task.hard(3)]:
        needed = task.needs(instance)
        assert len(needed) == len(instance.answer)
    assert json.dumps(needed)


def test_the_notebook_runs(capsys):
    notebook = json.loads((ROOT / "examples/first_steps.ipynb").read_text())
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]).replace("steps = 100", "steps = 2"), names)
    printed = capsys.readouterr().out
    assert "RPE: fails" in printed or "RPE: does not fit" in printed
    assert "RPESquare: generalises" in printed
    assert "{(): 3.0, (1, 2): 1.0}" in printed
