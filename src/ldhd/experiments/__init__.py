"""Frozen configs, and run -> record."""

from ldhd.experiments.config import RunConfig, make_config
from ldhd.experiments.evaluation import evaluate_run
from ldhd.experiments.folder import RunFolder
from ldhd.experiments.loading import load_run
from ldhd.experiments.progress import Progress
from ldhd.experiments.record import Failure, Record
from ldhd.experiments.runner import follow, run

__all__ = [
    "Failure",
    "Progress",
    "Record",
    "RunConfig",
    "RunFolder",
    "evaluate_run",
    "follow",
    "load_run",
    "make_config",
    "run",
]
