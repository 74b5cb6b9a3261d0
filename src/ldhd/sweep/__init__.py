"""Many runs, done by workers on this machine or on a cluster."""

from ldhd.sweep.executor import in_turn
from ldhd.sweep.local import in_processes
from ldhd.sweep.ray import on_ray
from ldhd.sweep.runs import SweepResult, run_all, run_sweep, train_all

__all__ = ["SweepResult", "in_processes", "in_turn", "on_ray", "run_all", "run_sweep", "train_all"]
