"""Many runs."""

from ldhd.sweep.local import run_all

__all__ = ["run_all"]
