"""What a check of one of the paper's claims reports."""

from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["holds", "holds with a correction", "fails as printed"]


@dataclass(frozen=True)
class Finding:
    """A claim in one sentence, its verdict, the corrected statement ("" if none is needed) and the numbers behind it.

    `evidence` holds plain numbers, strings, lists and dicts, so that it can be written as JSON.
    """

    claim: str
    verdict: Verdict
    correction: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)


def judge(printed: bool, corrected: bool = False, amends: bool = False) -> Verdict:
    """The verdict from two computed checks, that of the printed and that of the corrected statement.

    A correction `amends` the claim if it fixes a misprint or names a missing condition and keeps the conclusion;
    otherwise it concludes something else. Where even the corrected check fails there is nothing that holds.
    """
    if printed:
        return "holds"
    return "holds with a correction" if corrected and amends else "fails as printed"
