"""Evaluation: greedy decoding, accuracy by scale, and traces of attention."""

from ldhd.evaluate.accuracy import HardResult, ScaleResult, evaluate, evaluate_hard, score
from ldhd.evaluate.decode import greedy
from ldhd.evaluate.trace import Trace, trace

__all__ = ["HardResult", "ScaleResult", "Trace", "evaluate", "evaluate_hard", "greedy", "score", "trace"]
