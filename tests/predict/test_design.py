"""The coarsest relation of a slot, in words, and which embeddings tell it apart."""

import pytest

from ldhd.positions import POSITIONS, RPEAbsolute, RPESquare, Sum
from ldhd.positions.measured import Measure, Rule
from ldhd.predict import predict
from ldhd.predict.description import parse_description
from ldhd.predict.design import RulePosition, as_position, class_names, design, module_text
from ldhd.tasks import TASKS

SIX = range(1, 7)


def designed(task, layers=1):
    return design(TASKS[task], (1, 2, 3), SIX, layers)


def words(found):
    return {name: slot and slot.words for name, slot in found.slots.items()}


def test_copy_needs_the_paper_s_difference_of_distances():
    found = designed("copy")
    assert words(found) == {
        "x": "whether the distance to the `=` before it, of the query, minus the distance to the `b` before it, "
        "of the key, is -1"
    }
    refining = [name for name in POSITIONS if found.refined_by(POSITIONS[name](8, 2))]
    assert refining == ["rpe-square", "abacus", "latent-window", "coupled"]


def test_both_addends_need_one_relation():
    found = designed("addition")
    assert words(found)["x"] == words(found)["y"]
    assert "the `b` or `+` before it" in words(found)["x"]
    assert words(found)["z_previous"] == "content alone"
    assert found.refined_by(RPESquare(8, 2))
    assert not found.refined_by(POSITIONS["rpe"](8, 2))


def test_mod_10_needs_the_place_of_the_key_alone():
    found = designed("addition-mod10")
    assert words(found)["x"] == "whether the distance to the `b` or `+` before it, of the key, is 1"
    assert found.refined_by(RPEAbsolute(8, 2))


def test_multiplication_needs_two_kinds_of_relation_in_one_layer():
    one, two = designed("multiplication", 1), designed("multiplication", 2)
    assert words(one)["x"] == "whether the distance to the `b` before it, of the key, is 1"
    assert words(two)["x"] == "content alone"
    both = Sum([RPESquare(8, 2), RPEAbsolute(8, 2)])
    assert one.refined_by(both)
    assert not one.refined_by(RPESquare(8, 2))
    assert two.refined_by(RPESquare(8, 2))


def test_parity_without_its_steps_has_slots_that_nothing_serves():
    found = designed("parity-direct")
    assert words(found)["x_0"] == "whether the distance to the `b` before it, of the key, is 1"
    assert words(found)["x_5"] is None
    assert not found.refined_by(RPESquare(8, 2))


def test_what_is_designed_serves():
    """An embedding with the merged relation of a slot's rule carries that slot; reversal needs one that is not ours."""
    reversal = parse_description('format = "b x:n = z:n e"\n[needs]\nx = "x[n-1-t]"\n', "reversal")
    (slot,) = design(reversal, (1, 2, 3), SIX).slots.values()
    assert slot.words.endswith("minus the distance to the `=` after it, of the key, is -1")
    assert predict(reversal, RulePosition(slot.rule, slot.kept), (1, 2, 3), SIX).verdict == "generalises"
    assert not any(design(reversal, (1, 2), (1, 2, 3)).refined_by(kind(8, 2)) for kind in POSITIONS.values())


@pytest.mark.parametrize("rule", [Rule(), Rule(distance=True), Rule(Measure("b")), Rule(Measure("b"), Measure("="))])
def test_rules_are_relations_of_what_is_read(rule):
    position = RulePosition(rule)
    assert position.relation("b12=34e", 4, 1) == position.relation("b12=3", 4, 1)


def test_a_shorter_subtrahend_and_carries_of_subtraction_are_designed():
    assert None not in words(designed("subtraction")).values()


def test_many_keys_have_to_be_hidden():
    """Copying 60 digits after training on 3 dilutes attention, unless the other keys are hidden."""
    far = design(TASKS["copy"], (1, 2, 3), (60,))
    assert words(far)["x"].endswith("is -1; all other keys hidden")
    for found, expected in ((far, "generalises"), (designed("copy"), "fails")):
        assert predict(TASKS["copy"], as_position(found), (1, 2, 3), (60,)).verdict == expected


def test_the_class_of_a_design_has_its_relation():
    found = design(TASKS["reversal"], (1, 2, 3), SIX)
    (slot,) = found.slots.values()
    own, merged = as_position(found), RulePosition(slot.rule, slot.kept)
    for text in ("b123=321e", "b1=1e"):
        queries = range(len(text))
        assert own.relations(text, queries) == merged.relations(text, queries)
    assert module_text(found).endswith(
        'class Mirror(Measured):\n    rule = Rule(key=Measure("=", right=True), query=Measure("="))\n    kept = (-1,)\n'
    )


def test_every_class_of_a_design_is_written():
    found = design(TASKS["multiplication"], (1, 2, 3), SIX, 1)
    scope: dict = {}
    exec(module_text(found), scope)
    written = [scope[name] for name in class_names(found)]
    assert [(kind.rule, kind.kept, kind.hides) for kind in written] == [
        (slot.rule, tuple(sorted(slot.kept)), slot.hides) for slot in found.relations
    ]
