"""Settings of the smallest run that does everything a run does."""

TINY = {"model.dimension": 16, "model.heads": 2, "train.batch_size": 8, "train.samples": 40, "test_instances": 6}
