"""Evaluation: greedy decoding, accuracy by scale, and traces of attention."""

from ldhd.evaluate.accuracy import ScaleResult, evaluate, score
from ldhd.evaluate.decode import greedy
from ldhd.evaluate.trace import Trace, trace

__all__ = ["ScaleResult", "Trace", "evaluate", "greedy", "score", "trace"]
