"""The claims of Section 4 and its proofs about models and their training, by the names of the ledger."""

from collections.abc import Callable

from ldhd.theory.claims_features import corollary_1, example_3, lemma_sparse_interpolator
from ldhd.theory.claims_plaa import (
    corollary_2,
    definition_7_rpe,
    lemma_plaa_basis,
    lemma_q,
    remark_expressiveness,
    theorem_3,
    theorem_4,
)
from ldhd.theory.claims_theorem_2 import theorem_2
from ldhd.theory.finding import Finding

CLAIMS: dict[str, Callable[[], Finding]] = {
    "theorem-2": theorem_2,
    "corollary-1": corollary_1,
    "lemma-sparse-interpolator": lemma_sparse_interpolator,
    "example-3": example_3,
    "theorem-3": theorem_3,
    "lemma-q": lemma_q,
    "theorem-4": theorem_4,
    "lemma-plaa-basis": lemma_plaa_basis,
    "corollary-2": corollary_2,
    "definition-7-rpe": definition_7_rpe,
    "remark-expressiveness": remark_expressiveness,
}
