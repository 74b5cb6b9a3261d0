"""The ledger's findings about models: computed, reproducible, JSON, and following from their numbers."""

import json

import numpy as np
import pytest

from ldhd.theory import claims_features, claims_plaa
from ldhd.theory.feature_kernel import RELU, SHIFTED_SINE
from ldhd.theory.finding import judge
from ldhd.theory.ledger import CLAIMS

VERDICTS = {
    "theorem-2": "fails as printed",
    "corollary-1": "holds with a correction",
    "lemma-sparse-interpolator": "holds",
    "example-3": "fails as printed",
    "theorem-3": "holds with a correction",
    "lemma-q": "holds with a correction",
    "theorem-4": "holds",
    "lemma-plaa-basis": "holds",
    "corollary-2": "holds",
    "definition-7-rpe": "holds with a correction",
    "remark-expressiveness": "holds",
}


@pytest.fixture(scope="module")
def findings():
    return {name: CLAIMS[name]() for name in VERDICTS}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict(findings, name):
    finding = findings[name]
    assert finding.verdict == VERDICTS[name]
    assert bool(finding.correction) == (finding.verdict != "holds")
    assert finding.claim.endswith(".")
    json.dumps(finding.evidence, allow_nan=False)


def test_every_claim_is_listed():
    assert list(CLAIMS)[13:] == list(VERDICTS)


def test_evidence_of_theorem_2(findings):
    evidence = findings["theorem-2"].evidence
    assert evidence["square_V"]["kernel_of_V_minus_kernel_of_I"] < 1e-12
    assert evidence["square_V"]["RFMP_to_B(V)_interpolator"] > 1
    assert evidence["sampled_features"]["slope_in_K"] == pytest.approx(-0.5, abs=0.15)
    slopes = evidence["decay_slopes_of_J_k"]
    assert slopes[SHIFTED_SINE.name]["k=3"] > -3.1
    assert slopes[RELU.name]["k=3"] < -3.9


def test_evidence_of_example_3(findings):
    evidence = findings["example-3"].evidence
    assert evidence["interpolator"] == evidence["interpolator_printed_V"] == {"1": 3.0, "x1": 4.0}
    assert evidence["interpolator_column_V"] == {"x1": 4.0, "x2": 3.0}
    assert evidence["error_of_4x1_on_X_1"] == 3.0


def test_evidence_of_theorem_3(findings):
    evidence = findings["theorem-3"].evidence
    assert evidence["largest_deviation_from_sqrt(N-N0)_alpha"] < 1e-9
    assert evidence["counterexample_to_loss_0"]["loss"] == pytest.approx(0.25)


def test_findings_are_reproducible(findings):
    assert CLAIMS["corollary-1"]() == findings["corollary-1"]


def test_verdicts_follow_from_the_numbers(monkeypatch):
    """A wrong Q or a wrong criterion is noticed."""
    monkeypatch.setattr(claims_plaa, "q_matrix", lambda dimension, scale: np.eye(dimension))
    assert claims_plaa.lemma_q().verdict == "fails as printed"
    monkeypatch.setattr(claims_plaa, "grpe_generalises", lambda U, c, scale: True)
    assert claims_plaa.corollary_2().verdict == "fails as printed"
    monkeypatch.setattr(claims_features, "_interpolator_error", lambda f, scale: 0.0)
    assert claims_features.corollary_1().verdict == "fails as printed"


@pytest.mark.parametrize(
    ("printed", "corrected", "amends", "verdict"),
    [
        (True, True, True, "holds"),
        (True, False, False, "holds"),
        (False, True, True, "holds with a correction"),
        (False, True, False, "fails as printed"),
        (False, False, True, "fails as printed"),
    ],
)
def test_judge(printed, corrected, amends, verdict):
    assert judge(printed, corrected, amends) == verdict
