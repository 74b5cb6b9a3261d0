"""Whether an embedding will carry a task from small to large scales: a verdict with a witness, before any training."""

from ldhd.predict.cases import Case, Source
from ldhd.predict.prediction import ASSUMPTIONS, Prediction, SlotPrediction, Step, Witness
from ldhd.predict.predictor import predict, predict_layers

__all__ = [
    "ASSUMPTIONS",
    "Case",
    "Prediction",
    "SlotPrediction",
    "Source",
    "Step",
    "Witness",
    "predict",
    "predict_layers",
]
