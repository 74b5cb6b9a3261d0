"""Many runs."""

from ldhd.sweep.local import in_processes
from ldhd.sweep.ray import on_ray
from ldhd.sweep.runs import Swept, run_all, run_sweep

__all__ = ["Swept", "in_processes", "on_ray", "run_all", "run_sweep"]
