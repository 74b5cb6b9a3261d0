"""What misleads a head that could serve its slots: keys that training never shows, and ever more keys.

Both rules were found on stored runs (docs/predict.md lists which), and their constants are rules of thumb.
"""

import numpy as np

from ldhd.predict.cells import NEVER, HeadTable, distinct
from ldhd.predict.queries import Ints

MOST_UNSEEN = 1.0
"""The largest number of keys in unseen cells, averaged over the queries of a scale, that does no harm. Their scores are
those of initialisation."""

MOST_DILUTION = 25.0
"""The largest growth, over training, of the number of keys times the number of answer tokens that must all be right."""


def unseen_keys(head: HeadTable) -> Ints:
    """Return for each row the number of visible keys that it does not need, in cells that no training string has."""
    queries, covering = head.table.queries, head.table.covering
    seen = distinct(covering[queries.visible & queries.trained[:, None]])
    return (head.unneeded & ~np.isin(covering, seen)).sum(1) * (~queries.trained & head.listed)


def find_noise(head: HeadTable) -> int:
    """Return the first scale whose queries see more than `MOST_UNSEEN` keys in unseen cells, NEVER if there is none."""
    queries = head.table.queries
    tested = ~queries.trained & head.listed
    total = np.bincount(queries.scale[tested], unseen_keys(head)[tested])
    share = total / np.maximum(1, np.bincount(queries.scale[tested]))
    return int(np.flatnonzero(share > MOST_UNSEEN).min(initial=NEVER))


def find_crowd(head: HeadTable) -> int:
    """Return the first scale at which dilution exceeds `MOST_DILUTION`, NEVER if none does.

    Softmax divides attention among all visible keys; a long answer is right only if each of its tokens is.
    """
    queries = head.table.queries
    if head.table.fixed:  # scores that fall with the distance keep the number of competitors small
        return NEVER
    keys = (head.unneeded & ~head.table.hidden).sum(1) * head.listed
    tokens = np.array([len(shape.needs) for shape in queries.shapes])[queries.shape_index]
    trained = queries.trained
    in_training = max(1, keys[trained].max(initial=1)) * tokens[trained].max(initial=1)
    return int(queries.scale[~trained & (keys * tokens > MOST_DILUTION * in_training)].min(initial=NEVER))
