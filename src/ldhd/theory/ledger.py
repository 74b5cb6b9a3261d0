"""The ledger: every checkable claim of the paper with a verdict that is computed when it is asked for."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ldhd.names import lookup_only
from ldhd.theory import claims_framework, claims_models
from ldhd.theory.finding import Finding, Verdict

CLAIMS: dict[str, Callable[[], Finding]] = {**claims_framework.CLAIMS, **claims_models.CLAIMS}


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: what the paper claims, whether that holds, what holds instead, and the numbers."""

    id: str
    claim: str
    verdict: Verdict
    correction: str
    evidence: dict[str, Any]
    seconds: float


def verify(claims: Sequence[str] = ()) -> Iterator[Entry]:
    """The entries of these claims, of all by default, each as soon as it is computed."""
    chosen = {claim: lookup_only(claim, CLAIMS, "claim") for claim in claims} or CLAIMS
    return (_entry(claim, check) for claim, check in chosen.items())


def _entry(claim: str, check: Callable[[], Finding]) -> Entry:
    started = time.perf_counter()
    finding = check()
    seconds = round(time.perf_counter() - started, 3)
    return Entry(claim, finding.claim, finding.verdict, finding.correction, finding.evidence, seconds)
