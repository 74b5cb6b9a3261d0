"""The Boolean side: position-only linear attention with GRPE as a task whose cells are the matrices U_k.

At scale n the model computes the sum over i <= n of A_in x_i with A = sum of p_k U_k. So query n needs every i with
A*_in != 0, the class of (n, i) is the k whose support contains (i, n), and the linear criterion is Corollary 2.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ldhd.boolean import GrpeBasis
from ldhd.positions import Position
from ldhd.predict.analysis import Analysis, Head
from ldhd.predict.cells import NEVER
from ldhd.predict.shapes import StringShape
from ldhd.predict.views import views

BIT = frozenset("01")


class SupportPosition(Position):
    """An embedding whose relation of (n, i) is the k whose U_k has an entry there; strings are `0...0=`."""

    def __init__(self, U: Any):
        super().__init__(1, 1)
        self.U = GrpeBasis(U).U.astype(np.float64)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        users = np.flatnonzero(self.U[:, i, j - 1]).tolist() if i < j else []
        return users[0] if users else "none"


def predict_grpe(U: Any, c: Any, scale: int) -> bool:
    """Predict, by the linear criterion, whether PLAA with GRPE learns the sum of c_k b_k from X_{N0}.

    Args:
        U: The matrices of the embedding, shape (r, N, N).
        c: The coefficients of the concept, shape (r,).
        scale: N0, the training scale.
    """
    position = SupportPosition(U)
    coefficients = np.asarray(c, np.float64)
    dimension = position.U.shape[1]
    if coefficients.shape != (len(position.U),):
        raise ValueError(f"there is one c_k for each of {len(position.U)} matrices, got shape {coefficients.shape}")
    if not 1 <= scale <= dimension:
        raise ValueError(f"training is on X_N0 with N0 = 1 .. N = {dimension}, got N0 = {scale}")
    target = np.tensordot(coefficients, position.U, 1)
    shapes = []
    for n in range(1, dimension + 1):  # the points x_1 .. x_n, then the query; the sum needs those with a coefficient
        needs: dict[str, int | None] = {f"x_{i + 1}": i for i in range(n) if target[i, n - 1]}
        contents = (BIT,) * n + (frozenset("="), frozenset("e"))
        shapes.append(StringShape("0" * n + "=e", n + 1, n, [needs], contents))
    analysis = Analysis(position, shapes[:scale], shapes)
    if not analysis.slots:
        return True
    head = Head(views(position, ())[0], tuple(analysis.slots))
    return analysis.failures(head, {}).linear_at == NEVER
