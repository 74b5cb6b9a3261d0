"""Evaluation: greedy decoding, accuracy by scale, and what the model looked at."""

from ldhd.evaluate.accuracy import ScaleResult, evaluate, score
from ldhd.evaluate.decode import greedy
from ldhd.evaluate.trace import Trace, trace

__all__ = ["ScaleResult", "Trace", "evaluate", "greedy", "score", "trace"]
