"""python scripts/seen.py [TASK...]: how many test instances of each training scale were seen in training.

For seed 0 and the training set of each task of the record (fresh samples) and of the paper's figures (10000 samples).
"""

import sys

from ldhd.evaluate.accuracy import sample_test_instances
from ldhd.experiments import RunConfig
from ldhd.experiments.loading import run_task
from ldhd.experiments.presets import PRESETS
from ldhd.report.terminal import percent
from ldhd.tasks.tokens import decode
from ldhd.train.data import TrainingData


def seen_shares(config: RunConfig) -> dict[int, float]:
    """Return for each training scale the share of its test instances whose text occurs in the training data."""
    task = run_task(config)
    data = TrainingData(task, config.train_scales, config.train, config.seed)
    batches = [data.batch(index)[0] for index in range(config.train.steps * config.train.accumulation)]
    # the last column is cut off, so that shorter strings have their `e` and the longest have not
    known = {decode(row).rstrip("_").removesuffix("e") for batch in batches for row in batch.tolist()}
    shares = {}
    for scale in config.train_scales:
        texts = [x.text[:-1] for x in sample_test_instances(task, scale, config.test_instances, config.seed)]
        shares[scale] = sum(text in known for text in texts) / len(texts)
    return shares


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for name, label in (("record", "fresh samples"), *((f"fig{n}", "10000 samples") for n in (3, 4, 5, 6, 7, 8))):
        configs = {config.task: config for config in PRESETS[name].configs("quick")}
        for task, config in configs.items():
            if not wanted or task in wanted:
                samples = label if config.train.samples != "endless" else "fresh samples"
                shares = ", ".join(f"{scale}: {percent(share)} %" for scale, share in seen_shares(config).items())
                print(f"{task}, {samples}, {config.train.steps} steps: {shares}", flush=True)
