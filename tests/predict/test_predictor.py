"""Verdicts, witnesses, the paper's outcomes and the Boolean side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.boolean import rpe_matrices
from ldhd.positions import POSITIONS, RPE, Position, RPEAbsolute, RPESquare, Sum
from ldhd.predict import predict, predict_layers
from ldhd.predict.analysis import Analysis, Head
from ldhd.predict.grpe import predict_grpe
from ldhd.predict.paper import PAPER_OUTCOMES
from ldhd.predict.shapes import TaskShapes
from ldhd.predict.views import views
from ldhd.predict.witness import find_witness
from ldhd.tasks import TASKS, LatentSpace, Task
from ldhd.tasks.copy import CopyFormat, Strings, identity
from ldhd.theory.grpe import grpe_generalises

TEN = range(1, 11)


def make(name, **options):
    return POSITIONS[name](8, 2, **options)


def verdict(task, position, layers=1, train=(1, 2, 3, 4, 5), test=TEN):
    return predict(TASKS[task], position, train, test, layers)


class TestPaper:
    def test_its_outcomes_are_written_down_once_each(self):
        assert len({(known.task, known.position) for known in PAPER_OUTCOMES}) == len(PAPER_OUTCOMES) == 32
        assert sum(known.outcome == "generalises" for known in PAPER_OUTCOMES) == 11
        assert all(known.task in TASKS and known.position in POSITIONS for known in PAPER_OUTCOMES)

    def test_agreement(self):
        """Of 32 outcomes the softmax criterion agrees with all but one, the verdict with all but four, linear with 26.

        A first layer can mark the digits that addition modulo 10 needs, but RPE has noise; and Abacus sees noise where
        the paper reports success: in our models it fails there too.
        """
        disagreements = {"softmax": set(), "verdict": set(), "linear": set()}
        for known in PAPER_OUTCOMES:
            scales = known.train_scales, known.test_scales
            found = predict(TASKS[known.task], make(known.position), *scales, layers=12)
            for kind, pairs in disagreements.items():
                if getattr(found, kind).replace("does not fit", "fails") != known.outcome:
                    pairs.add((known.task, known.position))
        abacus = {(task, "abacus") for task in ("addition", "copy", "parity", "multiplication", "division")}
        assert disagreements["softmax"] == {("addition-mod10", "rpe")}
        assert disagreements["verdict"] == abacus - {("addition", "abacus")}
        assert disagreements["linear"] == abacus | {("addition-mod10", "rpe")}


class TestVerdicts:
    def test_copy(self):
        assert verdict("copy", make("rpe")).softmax == "fails"
        assert verdict("copy", make("rpe-square")).softmax == "generalises"
        assert verdict("copy", make("none"), 2).softmax == "fails"

    def test_the_second_layer_tells_the_one_digit_operand_from_the_others(self):
        for task in ("multiplication", "division"):
            found = predict_layers(TASKS[task], make("rpe-square"), range(1, 6), TEN, (1, 2, 12))
            assert [one.softmax for one in found] == ["fails", "generalises", "generalises"]
            assert not found[0].explains_training
            assert "tokens marked in the first layer" in {slot.slot: slot.head for slot in found[1].slots}["x"]

    def test_one_layer_is_enough_if_the_key_knows_its_place_too(self):
        both = Sum([RPESquare(8, 2), RPEAbsolute(8, 2)])
        assert verdict("multiplication", both).softmax == "generalises"
        assert verdict("multiplication", RPEAbsolute(8, 2)).softmax == "fails"

    def test_a_window_from_both_ends_reverses(self):
        assert verdict("reversal", make("latent-window", absolute="start")).verdict == "does not fit"
        assert verdict("reversal", make("latent-window", ends=True)).verdict == "generalises"

    def test_digits_at_the_same_place_from_the_end_are_told_apart_by_their_segment(self):
        found = [verdict("addition-scratchpad", make("latent-window", ends=True, segments=count)) for count in (0, 4)]
        assert [one.verdict for one in found] == ["does not fit", "generalises"]

    def test_what_another_head_reads_alone_can_be_subtracted(self):
        """The first digit of the long operand is as far from its delimiter as the one-digit operand is from `b`."""
        for task, absolute in (("multiplication", True), ("division", "start")):
            found = verdict(task, make("latent-window", absolute=absolute))
            assert found.softmax == "generalises"
            assert {slot.slot for slot in found.slots if "is subtracted" in slot.head} == {"y", "y_previous"}
            assert verdict(task, make("latent-window", absolute=False)).softmax == "fails"  # nothing reads it alone

    def test_offsets_are_what_carries_abacus(self):
        without = verdict("copy", make("abacus", max_offset=0))
        assert (without.verdict, without.max_scale) == ("fails", 5)
        assert verdict("copy", make("abacus", max_offset=4)).softmax == "fails"
        assert verdict("copy", make("abacus", max_offset=5)).softmax == "generalises"

    def test_alignment_is_what_rpe_needs(self):
        assert verdict("addition", make("rpe")).softmax == "fails"
        assert verdict("addition-aligned", make("rpe")).softmax == "generalises"
        absolute = verdict("addition-aligned", make("absolute"))
        assert (absolute.verdict, absolute.max_scale) == ("fails", 5)
        assert "with one content only" in absolute.witness.words

    def test_parity_without_its_steps_is_carried_by_none(self):
        for name in POSITIONS:
            assert verdict("parity-direct", make(name), 2).softmax == "fails"

    def test_clipping_removes_the_risk(self):
        assert verdict("copy", RPESquare(8, 2, max_distance=2)).risk == 0
        assert verdict("copy", RPESquare(8, 2, max_distance=100)).risk > 0.4

    def test_too_much_clipping_merges_what_is_needed(self):
        assert verdict("copy", RPESquare(8, 2, max_distance=1)).softmax == "fails"

    def test_nothing_to_carry_is_no_failure(self):
        assert verdict("copy", make("abacus", max_offset=0), test=(1, 2, 3)).softmax == "generalises"

    @pytest.mark.parametrize("task", ["copy", "addition-mod10"])
    def test_it_holds_up_to_the_largest_scale_and_not_beyond(self, task):
        for name in POSITIONS:
            whole = verdict(task, make(name), 2)
            if whole.explains_training:
                up_to = verdict(task, make(name), 2, test=range(1, whole.max_scale + 1))
                assert up_to.verdict == "generalises"
            if whole.verdict != "generalises":
                beyond = range(1, min(whole.max_scale, 9) + 2)
                assert verdict(task, make(name), 2, test=beyond).verdict != "generalises"
            assert whole.max_scale == min(slot.max_scale for slot in whole.slots)

    def test_aligned_strings_are_padded_to_the_largest_test_scale(self):
        """So a verdict for one range of scales says nothing about another: wider strings exceed T5's exact buckets."""
        assert verdict("addition-aligned", make("t5"), 2, test=range(1, 7)).softmax == "generalises"
        assert verdict("addition-aligned", make("t5"), 2, test=range(1, 8)).softmax == "fails"
        for name in ("none", "rope", "rpe", "rpe-square", "abacus"):
            assert (
                verdict("addition-aligned", make(name), 2).verdict
                == verdict("addition-aligned", make(name), 2, test=range(1, 7)).verdict
            )

    def test_bad_scales_and_layers(self):
        for scales, message in (((), "from 1 up"), ((0, 1), "from 1 up")):
            with pytest.raises(ValueError, match=message):
                predict(TASKS["copy"], RPE(8, 2), scales, TEN)
        with pytest.raises(ValueError, match="at least one layer, got 0"):
            predict(TASKS["copy"], RPE(8, 2), (1,), TEN, 0)
        with pytest.raises(ValueError, match="longer than the table of 9"):
            predict(TASKS["copy"], make("absolute", table_size=9), (1,), TEN)


class TestWitness:
    def test_an_uncovered_need_is_shown_on_the_smallest_string(self):
        witness = verdict("copy", make("abacus", max_offset=0)).witness
        (step,) = witness.constraints
        assert (witness.kind, witness.slot, step.scale, step.trained) == ("uncovered", "x", 6, False)
        assert TASKS["copy"].read(step.text[:8]).answer == step.text[8:]
        assert (step.query, step.winner) == (12, 6)  # after five copied symbols, the sixth

    def test_a_cycle_is_shown_on_strings_that_force_it(self):
        """Each step's loser and the next step's winner are one cell."""
        position = make("rpe")
        steps = verdict("copy", position).witness.constraints
        assert len(steps) == 2
        for step, following in zip(steps, [*steps[1:], steps[0]], strict=True):
            loser = position.relation(step.text, step.query, step.loser)
            assert loser == position.relation(following.text, following.query, following.winner)

    @pytest.mark.parametrize("task", ["copy", "multiplication", "parity-direct", "addition-mod10"])
    def test_every_step_of_every_cycle_is_demanded_by_the_needs(self, task):
        for name in ("none", "absolute", "rope", "rpe", "rpe-absolute"):
            witness = verdict(task, make(name), 1).witness
            if witness is None or witness.kind != "conflict":
                continue
            assert witness.constraints
            for step in witness.constraints:
                start = step.text.index("=") + 1
                needs = TASKS[task].needs(TASKS[task].read(step.text[:start]))[step.query + 1 - start]
                assert step.winner in needs.values()
                assert step.loser != needs[witness.slot]

    def test_no_step_sets_what_is_looked_for_above_its_like_that_is_subtracted(self):
        """All digits are alike without places. `x` can be taken off if it is read alone, other digits of `y` cannot."""
        source = TaskShapes(TASKS["multiplication"], tuple(TEN))
        analysis = Analysis(make("none"), source.shapes(range(1, 6)), source.shapes(TEN))
        (view,) = views(analysis.position, analysis.delimiters)
        head = Head(view, ("y",), subtracts=True)
        for read, loser in (((), 1), (("x",), 3), (("x", "y"), 1)):
            served = {"x": Head(view, read)} if read else {}
            (step,) = find_witness(analysis, "y", head, analysis.failures(head, served), served).constraints
            assert (step.text[: step.query + 1], step.winner, step.loser) == ("b1*11=1", 4, loser)

    def test_what_generalises_has_none(self):
        assert verdict("copy", make("rpe-square")).witness is None


class Drawn(LatentSpace):
    """Copy's latent space, its shapes not listed."""

    def sample(self, scale, generator):
        return Strings(10).sample(scale, generator)

    def scale(self, latent):
        return len(latent)


class TestUserTasks:
    def test_shapes_that_are_not_listed_are_drawn_and_leave_success_undecided(self):
        task = Task("drawn", Drawn(), identity, CopyFormat())
        good = predict(task, make("rpe-square"), range(1, 4), range(1, 7))
        assert (good.verdict, good.enumerated, good.max_scale) == ("undecided", False, 6)
        assert predict(task, make("rpe"), range(1, 4), range(1, 7)).verdict == "fails"

    def test_needs_that_cannot_be_point_at_the_token(self):
        class Ahead(CopyFormat):
            def needs(self, latent, label):
                return [{"x": len(latent) + 3} for _ in range(len(latent) + 1)]

        class Short(CopyFormat):
            def needs(self, latent, label):
                return []

        class Odd(CopyFormat):
            def needs(self, latent, label):
                return [{"x": -1} for _ in range(len(latent) + 1)]

        for kind, message in (
            (Ahead, r"answer token 0, '0' at index 3 of 'b0=0e', needs x at index 4, which is not written before it"),
            (Short, r"'b0=0e' has 2 answer tokens, but needs of 0"),
            (Odd, r"needs x at -1; an index is a whole number from 0 to 2"),
        ):
            with pytest.raises(ValueError, match=message):
                predict(Task("mine", Strings(10), identity, kind()), RPE(8, 2), (1, 2), (1, 2, 3))

    def test_an_embedding_of_ones_own(self):
        class LastDigits(Position):
            def relation(self, tokens, j, i):
                return ("near", j - i) if j - i < 2 else "far"

        assert verdict("copy", LastDigits(8, 2)).verdict == "does not fit"


@st.composite
def matrices(draw):
    """A GRPE: the entries of an upper triangle shared out among matrices, each of norm 1; and c and N0."""
    dimension = draw(st.integers(1, 5))
    entries = [(i, j) for j in range(dimension) for i in range(j + 1)]
    owner = [draw(st.integers(0, 3)) for _ in entries]
    U = np.zeros((4, dimension, dimension))
    for (i, j), k in zip(entries, owner, strict=True):
        U[k, i, j] = draw(st.sampled_from([0.0, 1.0, -2.0]))
    U = np.array([matrix / np.linalg.norm(matrix) for matrix in U if matrix.any()])
    c = [draw(st.sampled_from([0.0, 0.5, -1.0])) for _ in U]
    return U, np.array(c), draw(st.integers(1, dimension))


class TestBoolean:
    @given(matrices())
    def test_it_is_corollary_2(self, drawn):
        U, c, scale = drawn
        if len(U):
            assert predict_grpe(U, c, scale) == grpe_generalises(U, c, scale)

    def test_rpe_needs_every_distance_it_uses(self):
        U = rpe_matrices(4)
        assert predict_grpe(U, [1, 1, 0, 0], 2)
        assert not predict_grpe(U, [1, 1, 1, 0], 2)

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"N0 = 1 .. N = 3, got N0 = 4"):
            predict_grpe(rpe_matrices(3), [1, 1, 1], 4)
        with pytest.raises(ValueError, match="one c_k for each of 3 matrices"):
            predict_grpe(rpe_matrices(3), [1], 1)
