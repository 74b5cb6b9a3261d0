"""How good registered predictions are: counts, a confusion matrix, and two baselines with McNemar's test."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ldhd.experiments.baselines import ALWAYS, DEFAULT, NAME, VERDICTS, name_rule
from ldhd.experiments.registered import Comparison
from ldhd.statistics import mcnemar

PREDICTED = (*VERDICTS, "undecided", "does not apply")
MEASURED = (*VERDICTS, "mixed")


def count(rows: Sequence[Comparison]) -> dict[str, dict[str, Any]]:
    """Score the registered predictions, `in-sample` and `out-of-sample` apart; settings without one are only counted.

    Every registered setting is among the `hits`, `misses`, `declined` and `open` ones. `false_promises` are the misses
    that said `generalises`. `accuracy` is that of the decided settings, `accuracy_of_all` takes declined ones for
    misses, and `declined_share` is their share. The matrix is by predicted, then by measured verdict.
    """
    found = {}
    for name, in_sample in (("in-sample", True), ("out-of-sample", False)):
        own = [row for row in rows if row.in_sample == in_sample]
        found[name] = {
            **score([row for row in own if row.registered]),
            "unregistered": sum(not r.registered for r in own),
        }
    return found


def score(rows: Sequence[Comparison]) -> dict[str, Any]:
    """Score registered comparisons; see `count`."""
    outcomes = Counter(row.outcome for row in rows)
    judged = [row for row in rows if row.outcome != "open"]
    decided = [row for row in judged if row.outcome != "declined"]
    promises = [row for row in decided if row.predicted == "generalises"]
    kept = sum(row.outcome == "hit" for row in promises)
    return {
        "hits": outcomes["hit"],
        "misses": outcomes["miss"],
        "declined": outcomes["declined"],
        "open": outcomes["open"],
        "irregular": sum(bool(row.irregular) for row in judged),
        "promises": len(promises),
        "false_promises": len(promises) - kept,
        "accuracy": _share(outcomes["hit"], len(decided)),
        "accuracy_of_all": _share(outcomes["hit"], len(judged)),
        "declined_share": _share(outcomes["declined"], len(judged)),
        "confusion": confusion(judged),
        "baselines": {name: _beside(decided, name) for name in (ALWAYS, NAME)},
    }


def confusion(rows: Sequence[Comparison]) -> dict[str, dict[str, int]]:
    """Return how often each predicted verdict met each measured one."""
    counts = Counter((row.predicted, row.measured) for row in rows)
    return {said: {was: counts[said, was] for was in MEASURED} for said in PREDICTED}


def _beside(rows: Sequence[Comparison], name: str) -> dict[str, Any]:
    """Compare the decided settings with a baseline: how often each is right alone, and McNemar's p.

    A baseline that was not registered with the prediction is the best rule of its kind in hindsight.
    """
    hindsight = name_rule([(row.position, row.measured) for row in rows]) if name == NAME else {}
    right = [row.baselines.get(name, hindsight.get(row.position, DEFAULT)) == row.measured for row in rows]
    hits = [row.outcome == "hit" for row in rows]
    wins = sum(own and not other for own, other in zip(hits, right, strict=True))
    losses = sum(other and not own for own, other in zip(hits, right, strict=True))
    return {"hits": sum(right), "wins": wins, "losses": losses, "p": round(mcnemar(wins, losses), 6)}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
