"""The head of the report: in one sentence what was found, and how many runs it rests on."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ldhd.experiments.groups import Group
from ldhd.report.runs import Runs
from ldhd.report.terminal import counted

VERBS = {
    "generalises": "generalises on",
    "too few seeds, generalises": "seems to generalise on",
    "mixed": "is mixed on",
    "too few seeds, mixed": "seems mixed on",
    "fails": "fails on",
    "too few seeds, fails": "seems to fail on",
    "not fitted": "does not fit",
}
"""From the best verdict to the worst."""
MOST_POSITIONS, MOST_TASKS = 6, 3
"""Embeddings named in the headline, and tasks up to which they are named there too."""


def headline(groups: Sequence[Group]) -> Markup:
    """Say on which tasks each embedding generalises and on which it does not, each at its best setting."""
    if not groups:
        return Markup("No finished runs.")
    found: dict[str, dict[str, str]] = {}  # embedding -> task -> the best verdict of its settings
    for group in groups:
        tasks = found.setdefault(group.position, {})
        tasks[group.task] = min(tasks.get(group.task, "not fitted"), _verdict(group), key=list(VERBS).index)
    several = len(groups) > sum(map(len, found.values()))
    best = ", each at its best setting" if several else ""
    if len({group.task for group in groups}) > MOST_TASKS:
        return _counts(found) + f"{best}."
    ranked = sorted(found, key=lambda position: -_generalising(found[position]))
    sentences = [Markup("<b>{}</b> ").format(name) + _by_verdict(found[name]) for name in ranked[:MOST_POSITIONS]]
    rest = len(ranked) - MOST_POSITIONS
    more = f"; {counted(rest, 'other embedding')} below" if rest > 0 else ""
    return Markup("; ").join(sentences) + f"{more}{best}."


def facts(runs: Runs) -> list[tuple[int, str, str]]:
    """Return counts with their nouns, and `alarm` for those that should be none; zeros are left out."""
    records = [run.record for run in runs.finished]
    counts = [
        (len(records), "runs", ""),
        (len({record.task for record in records}), "tasks", ""),
        (len({record.position for record in records}), "embeddings", ""),
        (len({record.seed for record in records}), "seeds", ""),
        (sum(not record.fitted for record in records), "not fitted", "alarm"),
        (len(runs.failed), "failed", "alarm"),
        (len(runs.unfinished), "unfinished", ""),
        (len(runs.problems), "unreadable", "alarm"),
    ]
    return [
        (count, name.removesuffix("s") if count == 1 else name, tone)
        for count, name, tone in counts
        if count or name == "runs"
    ]


def _verdict(group: Group) -> str:
    """The verdict, or with too few seeds what it would be."""
    verdict = group.verdict()
    return f"{verdict}, {group.tendency()}" if verdict == "too few seeds" else verdict


def _by_verdict(tasks: Mapping[str, str]) -> Markup:
    """`generalises on copy and parity and fails on addition`, from task -> verdict."""
    found: dict[str, list[str]] = {}
    for task, verdict in tasks.items():
        found.setdefault(verdict, []).append(task)
    return listed([Markup(verb) + " " + listed(found[verdict]) for verdict, verb in VERBS.items() if verdict in found])


def _counts(found: Mapping[str, Mapping[str, str]]) -> Markup:
    """`Of 8 tasks, a generalises on 7, b on 1, c and d on none`."""
    tasks = {task for verdicts in found.values() for task in verdicts}
    by_count: dict[int, list[Markup]] = {}
    for position, verdicts in found.items():
        limited = "" if len(verdicts) == len(tasks) else f" (tried on {len(verdicts)})"
        name = Markup("<b>{}</b>{}").format(position, limited)
        by_count.setdefault(_generalising(verdicts), []).append(name)
    ranked = sorted(by_count, reverse=True)
    verb = "generalises " if len(by_count[ranked[0]]) == 1 else "generalise "
    parts = [listed(by_count[count]) + f" {verb * (count == ranked[0])}on {count or 'none'}" for count in ranked]
    few = any("too few seeds" in verdict for verdicts in found.values() for verdict in verdicts.values())
    note = ", counting one seed or two where there are no more" if few else ""
    return Markup("Of {} tasks, ").format(len(tasks)) + Markup(", ").join(parts) + note


def _generalising(tasks: Mapping[str, str]) -> int:
    """Count the tasks that an embedding generalises on, or seems to."""
    return sum(verdict.endswith("generalises") for verdict in tasks.values())


def listed(names: Sequence[str]) -> Markup:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return Markup(" and ").join([Markup(", ").join(first), last] if first else [last])
