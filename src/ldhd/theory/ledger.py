"""The ledger: every checkable claim of the paper, with a verdict that is computed on demand."""

import time
from collections.abc import Callable, Iterator, Sequence

from ldhd.names import lookup_only
from ldhd.theory import claims_features, claims_formats, claims_learning, claims_plaa, claims_profiles
from ldhd.theory.finding import Finding

CLAIMS: dict[str, Callable[[], Finding]] = {
    "abstraction-1": claims_formats.abstraction_1,
    "example-1": claims_formats.example_1,
    "example-2": claims_formats.example_2,
    "definition-1": claims_learning.definition_1,
    "theorem-1": claims_learning.theorem_1,
    "section-3-linear-class": claims_learning.section_3_linear_class,
    "remark-priming": claims_learning.remark_priming,
    "definition-2": claims_profiles.definition_2,
    "definition-3": claims_profiles.definition_3,
    "section-5.1-cot": claims_learning.section_5_1_cot,
    "appendix-a-fourier": claims_profiles.appendix_a_fourier,
    "appendix-d-needs": claims_formats.appendix_d_needs,
    "appendix-d-sampler": claims_formats.appendix_d_sampler,
    "theorem-2": claims_features.theorem_2,
    "corollary-1": claims_features.corollary_1,
    "lemma-sparse-interpolator": claims_features.lemma_sparse_interpolator,
    "example-3": claims_features.example_3,
    "theorem-3": claims_plaa.theorem_3,
    "lemma-q": claims_plaa.lemma_q,
    "theorem-4": claims_plaa.theorem_4,
    "lemma-plaa-basis": claims_plaa.lemma_plaa_basis,
    "corollary-2": claims_plaa.corollary_2,
    "definition-7-rpe": claims_plaa.definition_7_rpe,
    "remark-expressiveness": claims_plaa.remark_expressiveness,
}
"""The check of each claim, in the order of the ledger; calling it computes the finding."""


Entry = tuple[str, Finding, float]
"""One line of the ledger: the name of a claim, the finding about it, and the seconds it took to compute."""


def verify(claims: Sequence[str] = ()) -> Iterator[Entry]:
    """Yield the entries of these claims, of all by default, each as soon as it is computed."""
    chosen = {claim: lookup_only(claim, CLAIMS, "claim") for claim in claims} or CLAIMS
    return (_entry(claim, check) for claim, check in chosen.items())


def _entry(claim: str, check: Callable[[], Finding]) -> Entry:
    started = time.perf_counter()
    return claim, check(), round(time.perf_counter() - started, 3)
