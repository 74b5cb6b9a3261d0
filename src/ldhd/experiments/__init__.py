"""Frozen configs, and run -> record."""

from ldhd.experiments.config import RunConfig, make_config
from ldhd.experiments.folder import Failure, Record, RunFolder
from ldhd.experiments.loading import evaluate_run, load_run
from ldhd.experiments.runner import Progress, run

__all__ = ["Failure", "Progress", "Record", "RunConfig", "RunFolder", "evaluate_run", "load_run", "make_config", "run"]
