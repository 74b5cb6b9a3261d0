"""Frozen configs, and run -> record."""

from ldhd.experiments.config import RunConfig, make_config
from ldhd.experiments.record import Failure, Record, read_config, read_record
from ldhd.experiments.runner import Progress, evaluate_run, follow, load_run, run

__all__ = [
    "Failure",
    "Progress",
    "Record",
    "RunConfig",
    "evaluate_run",
    "follow",
    "load_run",
    "make_config",
    "read_config",
    "read_record",
    "run",
]
