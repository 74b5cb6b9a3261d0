"""How far a run has come, as reported while it is trained and tested."""

from collections.abc import Callable
from dataclasses import dataclass

from ldhd.experiments.config import RunConfig


@dataclass(frozen=True)
class Progress:
    """A run has completed `done` of the `total` steps or scales of its `stage`."""

    run: str
    """The hash of the run."""
    label: str
    stage: str
    done: int
    total: int
    loss: float | None = None
    accuracy: dict[str, float] | None = None

    @classmethod
    def of(cls, config: RunConfig, stage: str, done: int = 0, total: int = 1) -> "Progress":
        """Return the progress of the run of `config`, without loss and accuracy."""
        return cls(config.hash, config.label, stage, done, total)


OnProgress = Callable[[Progress], None]
Stop = Callable[[], bool]
"""Asked again and again during a run; the run stops once it returns True."""
