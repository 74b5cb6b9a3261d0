"""What a predictor has to beat: always the same verdict, and the best rule on the name of the embedding."""

from collections import Counter
from collections.abc import Sequence

from ldhd.experiments.groups import Group

ALWAYS = "always fails"
NAME = "name of the embedding"
DEFAULT = "fails"
"""The verdict of both baselines about an embedding of which nothing is known."""

VERDICTS = ("generalises", "fails", "does not fit")


def name_rule(measured: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return for each embedding its most frequent verdict, from pairs of embedding and measured verdict."""
    counts: dict[str, Counter[str]] = {}
    for position, verdict in measured:
        if verdict in VERDICTS:
            counts.setdefault(position, Counter())[verdict] += 1
    return {position: max(VERDICTS, key=lambda verdict: found[verdict]) for position, found in counts.items()}


def learned_name_rule(groups: Sequence[Group], scale: int) -> dict[str, str]:
    """Return the best rule on names for the stored groups that were tested at a scale beyond training."""
    tested = [group for group in groups if scale in group.scales and scale > max(group.train_scales)]
    return name_rule([(group.position, group.tendency(scale)) for group in tested])


def baseline_verdicts(position: str, rule: dict[str, str]) -> dict[str, str]:
    """Return the verdicts of both baselines about a setting."""
    return {ALWAYS: DEFAULT, NAME: rule.get(position, DEFAULT)}
