"""The results of `ldhd new` and `ldhd check`."""

from pathlib import Path

from ldhd.experiments.parts import is_description, load_task
from ldhd.report.terminal import Output, counted
from ldhd.tasks import Task
from ldhd.tasks.contract import problems
from ldhd.templates import write_new

NEXT = {
    "task": (
        "ldhd check {name}",
        "pytest {test}",
        "ldhd tasks {name}",
        "ldhd predict {name} --layers 1",
        "ldhd run {name} --position latent-window --test-scales 1-10,20,50,100",
    ),
    "position": (
        "pytest {test}",
        "ldhd predict copy --position {name}",
        "ldhd run copy --position {name},rpe-square",
    ),
}


def begin(kind: str, name: str, folder: Path) -> Output:
    """Write the files of a new task or embedding, and show what to do with them."""
    paths, own = write_new(kind, name, folder)
    commands = [line.format(name=own, test=paths[1].name) for line in NEXT[kind]]
    where = "" if folder == Path() else f", in {folder}"
    view = [f"wrote {' and '.join(map(str, paths))}", f"next{where}:", *(f"  {line}" for line in commands)]
    return {"files": list(map(str, paths)), "name": own, "next": commands}, view


def check_task(name: str) -> Output:
    """Say what is wrong with a task, and what a check cannot know."""
    task = load_task(name)
    found = problems(task)
    notes = [] if found else _notes(name, task)
    verdict = f"{counted(len(found), 'problem')}" if found else "nothing is wrong"
    view = [f"{name}: {verdict}", *(f"  {line}" for line in found), *(f"  note: {line}" for line in notes)]
    return {"task": name, "problems": found, "notes": notes}, view


def _notes(name: str, task: Task) -> list[str]:
    notes = ["whether the answers are right is not checked: compare them with a computation of your own in a test"]
    if not task.hard(1):
        notes.append("its latent space lists no hard instances (hard), so that runs are tested on random ones alone")
    if task.latent.shapes(1) is None and not is_description(name):
        notes.append("its latent space does not list its shapes (shapes), so that predictions are made from samples")
    return notes
