"""ldhd: a laboratory for length generalization.

>>> import torch, ldhd
>>> ldhd.TASKS["copy"].sample(3, torch.Generator().manual_seed(0))
>>> config = ldhd.make_config("copy", "rpe-square", seed=0)
>>> record = ldhd.run(config, Path("runs"))
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ldhd.experiments import load_run, make_config, run
    from ldhd.positions import POSITIONS
    from ldhd.tasks import TASKS

__all__ = ["POSITIONS", "TASKS", "__version__", "load_run", "make_config", "run"]


def __getattr__(name: str) -> Any:
    """Import torch only when something of the API is used, so that `ldhd --help` answers at once."""
    if name not in __all__:
        raise AttributeError(f"module 'ldhd' has no attribute {name!r}")
    home = {"TASKS": "ldhd.tasks", "POSITIONS": "ldhd.positions"}.get(name, "ldhd.experiments")
    return getattr(importlib.import_module(home), name)
