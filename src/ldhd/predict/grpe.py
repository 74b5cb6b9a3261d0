"""The Boolean side: position-only linear attention with GRPE as a task whose cells are the matrices U_k.

At scale n the model computes the sum over i <= n of A_in x_i with A = sum of p_k U_k, so the query n needs every i with
A*_in != 0, its class is the k whose support holds (i, n), and the linear criterion is Corollary 2.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ldhd.boolean import GrpeBasis
from ldhd.positions import Position
from ldhd.predict.cases import Case
from ldhd.predict.cells import NEVER
from ldhd.predict.trial import Trial, Way
from ldhd.predict.views import views

BIT = frozenset("01")


class SupportPosition(Position):
    """The class of (n, i) is the k whose U_k has an entry there; its tokens are `0...0=`, the query being `=`."""

    def __init__(self, U: Any):
        super().__init__(1, 1)
        self.U = GrpeBasis(U).U.astype(np.float64)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        users = np.flatnonzero(self.U[:, i, j - 1]).tolist() if i < j else []
        return users[0] if users else "none"


def predict_grpe(U: Any, c: Any, scale: int) -> bool:
    """Whether the linear criterion predicts that PLAA with GRPE learns the sum of c_k b_k from X_{N0}, N0 = `scale`."""
    position = SupportPosition(U)
    coefficients = np.asarray(c, np.float64)
    dimension = position.U.shape[1]
    if coefficients.shape != (len(position.U),):
        raise ValueError(f"there is one c_k for each of {len(position.U)} matrices, got shape {coefficients.shape}")
    if not 1 <= scale <= dimension:
        raise ValueError(f"training is on X_N0 with N0 = 1 .. N = {dimension}, got N0 = {scale}")
    target = np.tensordot(coefficients, position.U, 1)
    cases = [_case(target, n) for n in range(1, dimension + 1)]
    trial = Trial(position, cases[:scale], cases)
    if not trial.slots:
        return True
    everything = views(position, ())[0]
    return trial.judge(Way(everything, tuple(trial.slots)), {}).linear_at == NEVER


def _case(target: Any, n: int) -> Case:
    """All points of scale n: x_1 .. x_n read by the query after them; the sum needs those with a coefficient."""
    needs: dict[str, int | None] = {f"x_{i + 1}": i for i in range(n) if target[i, n - 1]}
    return Case("0" * n + "=e", n + 1, n, [needs], (BIT,) * n + (frozenset("="), frozenset("e")))
