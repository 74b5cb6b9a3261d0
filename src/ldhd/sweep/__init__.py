"""Many runs, done by workers on this machine or on a cluster."""

from ldhd.sweep.executor import in_processes, in_turn
from ldhd.sweep.ray import on_ray
from ldhd.sweep.runs import SweepResult, run_all, run_sweep, run_together

__all__ = ["SweepResult", "in_processes", "in_turn", "on_ray", "run_all", "run_sweep", "run_together"]
