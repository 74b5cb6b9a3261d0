"""Whether a model can fit the training scales at all, by heads that extend or by telling short strings apart.

A model that no head explains can still fit: on strings of a few tokens it can read every position by itself and learn
what to make of each length. What this takes was found on stored runs (docs/predict.md lists which).
"""

from collections.abc import Mapping

from ldhd.predict.analysis import Analysis
from ldhd.predict.cells import FailureScales

HEADS = 8
"""The number of heads in a layer."""


def fits(analysis: Analysis, layers: int, failures: Mapping[str, FailureScales]) -> bool:
    """Return whether a model of `layers` layers fits, given where the best head of each slot fails.

    - If heads serve all slots in training, it fits.
    - Two layers find one token in a short string with any embedding: the first one counts the tokens before each.
    - They find any number of tokens if relations tell the keys of every query apart and do not change at random.
      The last layer reads each of them with a head of its own, so that there cannot be more of them than heads.
    - One layer does so with a head for each relation that any slot needs, if there are enough heads and their scores
      are learned.
    """
    unexplained = [slot for slot, found in failures.items() if found.conflict_at == 0]
    if not unexplained or (layers > 1 and len(analysis.searched_slots) <= 1):
        return True
    relations = analysis.telling_relations(unexplained)
    if relations is None or len(unexplained) > HEADS:
        return False
    if layers > 1:
        return True
    together = analysis.telling_relations(analysis.searched_slots) or relations
    return together <= HEADS and not any(term.falling for term in analysis.position.summands())
