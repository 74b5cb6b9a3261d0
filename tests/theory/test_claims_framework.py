"""The ledger's entries on the framework: their verdicts follow from their numbers."""

import json
from dataclasses import replace

import pytest

from ldhd.theory import claims_formats, claims_learning, claims_profiles
from ldhd.theory.ledger import CLAIMS

VERDICTS = {
    "abstraction-1": "holds with a correction",
    "example-1": "holds with a correction",
    "example-2": "holds",
    "definition-1": "holds with a correction",
    "theorem-1": "holds with a correction",
    "section-3-linear-class": "holds with a correction",
    "remark-priming": "holds with a correction",
    "definition-2": "holds with a correction",
    "definition-3": "holds with a correction",
    "section-5.1-cot": "holds",
    "appendix-a-fourier": "holds",
    "appendix-d-needs": "holds with a correction",
    "appendix-d-sampler": "holds with a correction",
}


@pytest.fixture(scope="module")
def findings():
    return {name: CLAIMS[name]() for name in VERDICTS}


def test_every_claim_has_its_verdict(findings):
    assert list(CLAIMS)[:13] == list(VERDICTS)
    assert {name: finding.verdict for name, finding in findings.items()} == VERDICTS


@pytest.mark.parametrize("name", VERDICTS)
def test_findings_are_complete(findings, name):
    finding = findings[name]
    assert finding.claim
    assert (finding.correction == "") == (finding.verdict == "holds")
    assert finding.evidence
    assert json.loads(json.dumps(finding.evidence)) == finding.evidence


def test_evidence_of_no_free_lunch(findings):
    evidence = findings["theorem-1"].evidence
    assert evidence["squared loss, three labels"]["pairs_with_different_sums"] > 0
    assert evidence["0/1 loss, three labels"]["pairs_with_different_sums"] == 0


def test_evidence_of_needs(findings):
    evidence = findings["appendix-d-needs"].evidence
    assert evidence["share_of_printed_slot_values_with_several_values_of_s_itself"] == 0
    one, other = evidence["counterexample"]
    assert one["next"] != other["next"]
    for entry in (one, other):
        prompt, answer = entry["string"].removeprefix("b").split("=")
        x, y = (int(addend[::-1]) for addend in prompt.split("+"))
        assert str(x + y)[::-1].startswith(answer + str(entry["next"]))


def test_evidence_of_interpolators(findings):
    evidence = findings["definition-3"].evidence
    assert evidence["fourier"]["interpolators_outside_the_span"] == 0
    assert evidence["plaa"]["interpolators_outside_the_span"] > 0
    assert all(evidence[name]["others_tried"] >= 50 for name in ("fourier", "plaa", "rpe"))


def test_a_true_theorem_would_be_said_to_hold(monkeypatch):
    """If every loss behaved as the 0/1 loss does, nothing would contradict the printed theorem."""
    true_check = claims_learning.compare_all_pairs

    def only_zero_one(problem):
        return true_check(replace(problem, loss=lambda y, z: int(y != z)))

    monkeypatch.setattr(claims_learning, "compare_all_pairs", only_zero_one)
    assert claims_learning.theorem_1().verdict == "holds"


def test_a_format_that_keeps_all_digits_would_hold(monkeypatch):
    monkeypatch.setattr(claims_formats, "unaligned_as_printed", claims_formats.unaligned)
    assert claims_formats.example_1().verdict == "holds"


def test_a_broken_expansion_would_be_noticed(monkeypatch):
    monkeypatch.setattr(claims_profiles, "inverse_fourier", lambda coefficients: coefficients)
    assert claims_profiles.appendix_a_fourier().verdict == "fails as printed"
