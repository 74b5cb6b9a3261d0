"""The predictor of the first registration and that of today, on outcomes that both know: python scripts/pooled.py

All counts are in-sample for the predictor of today, which was changed with these outcomes known.
"""

from collections import Counter
from pathlib import Path

from ldhd.experiments.groups import group_runs
from ldhd.experiments.parts import build_position, load_task, position_options
from ldhd.experiments.predictions import predict_configs, prediction_key
from ldhd.experiments.registered import Register, compare
from ldhd.experiments.studies import read_runs
from ldhd.predict import predict
from ldhd.predict.paper import PAPER_OUTCOMES

RESULTS = Path(__file__).parents[1] / "results"


def on_the_paper() -> None:
    """Print how many of the paper's outcomes the criterion alone and the verdict agree with, at two layers or more."""
    counts: Counter[str] = Counter()
    for known in PAPER_OUTCOMES:
        embedding = build_position(known.position, position_options(known.position, {}))
        found = predict(load_task(known.task), embedding, known.train_scales, known.test_scales, layers=2)
        counts["softmax criterion"] += found.softmax == known.outcome
        counts["verdict"] += found.verdict.replace("does not fit", "fails") == known.outcome
    print(f"paper's {len(PAPER_OUTCOMES)} outcomes, in-sample:", dict(counts))


def on_registered() -> None:
    """Print both predictors' counts on the settings that were registered and measured."""
    runs = [(run.config, run.record) for run in read_runs(RESULTS)]
    groups = group_runs([record for _, record in runs], {config.hash: config for config, _ in runs})
    rows = compare(runs, Register(RESULTS.parent))
    old: Counter[tuple[str, str, str]] = Counter()
    judged = [
        (g, row) for g, row in zip(groups, rows, strict=True) if row.registered and row.measured != "too few seeds"
    ]
    today = predict_configs([group.config for group, _ in judged])
    verdicts = {prediction_key(config): found.verdict for config, (found, _) in today}
    for group, row in judged:
        sample = "in-sample" if row.in_sample else "out of sample"
        new = verdicts[prediction_key(group.config)]
        old[sample, "old", row.outcome] += 1
        old[sample, "new, in-sample", "hit" if new == row.measured else "miss"] += 1
        if row.outcome in ("hit", "miss"):
            old[sample, "new, in-sample, where the old one is decided", "hit" if new == row.measured else "miss"] += 1
        if new != row.measured:
            print("new misses", row.task, row.position, row.layers, row.largest_scale, new, row.measured, sep=" | ")
        if row.outcome == "miss":
            verdicts_of_old = row.predicted, row.measured, row.irregular
            print("old misses", row.task, row.position, row.layers, row.largest_scale, *verdicts_of_old, sep=" | ")
    for (sample, whose, outcome), number in sorted(old.items()):
        print(f"{sample}, {whose}: {number} {outcome}")


if __name__ == "__main__":
    on_the_paper()
    on_registered()
