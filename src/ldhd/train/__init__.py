"""Training: loop, schedule, checkpoints."""

from ldhd.train.config import TrainConfig
from ldhd.train.data import TrainingData
from ldhd.train.loop import train
from ldhd.train.state import State, new_state

__all__ = ["State", "TrainConfig", "TrainingData", "new_state", "train"]
