"""Many runs."""

from ldhd.sweep.local import in_processes
from ldhd.sweep.runs import Swept, run_all, run_sweep

__all__ = ["Swept", "in_processes", "run_all", "run_sweep"]
