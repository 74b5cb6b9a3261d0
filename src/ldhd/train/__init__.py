"""Training: loop, schedule, checkpoints."""

from ldhd.train.config import TrainConfig
from ldhd.train.data import TrainingData
from ldhd.train.loop import State, new_state, train

__all__ = ["State", "TrainConfig", "TrainingData", "new_state", "train"]
