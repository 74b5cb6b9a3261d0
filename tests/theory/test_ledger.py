"""The ledger as a whole."""

import json
from dataclasses import asdict

import pytest

from ldhd.theory.finding import judge
from ldhd.theory.ledger import CLAIMS, verify

PAPER = {
    *(f"theorem-{number}" for number in (1, 2, 3, 4)),
    *(f"corollary-{number}" for number in (1, 2)),
    *(f"example-{number}" for number in (1, 2, 3)),
    *(f"definition-{number}" for number in (1, 2, 3)),
    "lemma-q",
    "remark-priming",
}


def test_every_numbered_claim_has_an_entry():
    assert set(CLAIMS) >= PAPER


def test_entries_are_written_as_json_and_computed_again():
    for _, finding, _ in verify(["theorem-1", "example-3", "lemma-q"]):
        written = json.loads(json.dumps(asdict(finding)))
        assert set(written) == {"claim", "verdict", "correction", "evidence"}
        assert written["evidence"]
        assert (finding.correction == "") == (finding.verdict == "holds")


def test_the_same_claim_twice_is_one_entry():
    assert [name for name, *_ in verify(["example-2", "example-2"])] == ["example-2"]


def test_unknown_claim():
    with pytest.raises(ValueError, match="unknown claim 'theorem-9'; choose from"):
        verify(["theorem-9"])


def test_verdicts_come_from_the_checks():
    assert judge(printed=True) == "holds"
    assert judge(printed=False, corrected=True, amends=True) == "holds with a correction"
    assert judge(printed=False, corrected=True, amends=False) == "fails as printed"
    assert judge(printed=False, corrected=False, amends=True) == "fails as printed"


def test_every_check_is_in_the_ledger_once():
    assert len(set(CLAIMS.values())) == len(CLAIMS) == 24
