"""Scores of any model on a fixed suite of instances."""

from ldhd.score.scoring import Score, score
from ldhd.score.suite import SUITE

__all__ = ["SUITE", "Score", "score"]
