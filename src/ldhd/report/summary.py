"""Moved to `ldhd.experiments.groups`; these names remain until the last import of them is gone."""

from collections.abc import Sequence

from ldhd.experiments.groups import Group as Cell
from ldhd.experiments.groups import group_runs as cells
from ldhd.experiments.groups import setting as kind

__all__ = ["Cell", "cells", "kind", "per_position"]


def per_position(cell: Cell, scale: int) -> Sequence[float]:
    return cell.per_position(scale)
