"""Each task against an independent computation with Python's integers."""

import sys
from bisect import insort
from collections import Counter
from itertools import accumulate
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.task import TaskContract
from ldhd.tasks import TASKS, Task
from ldhd.tasks.addends import Numbers, SumFormat, total
from ldhd.tasks.contract import generator
from ldhd.tasks.digits import carry_lengths

sys.set_int_max_str_digits(10_000)


def number(reversed_digits: str) -> int:
    return int(reversed_digits[::-1])


class TestCopy(TaskContract):
    task = TASKS["copy"]

    def expected(self, prompt):
        return prompt[1:-1] + "e"

    def test_needs(self):
        assert self.task.needs(self.task.read("b40=")) == [{"x": 1}, {"x": 2}, {"x": None}]


class TestAddition(TaskContract):
    task = TASKS["addition"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("+")
        return str(number(x) + number(y))[::-1] + "e"

    def test_worked_strings(self):
        assert self.task.read("b21+543=").answer == "753e"
        assert self.task.read("b99+1=").answer == "001e"
        assert self.task.read("b0+0=").answer == "0e"

    def test_needs_of_the_digit_after_z_previous(self):
        """At query z_{t-1}, z_t needs both digits of place t and of place t - 1, and the query itself."""
        #        b 9 9 + 1 = 0 0 1 e
        # index  0 1 2 3 4 5 6 7 8 9
        needs = self.task.needs(self.task.read("b99+1="))
        assert needs[0] == {"x": 1, "y": 4, "x_previous": None, "y_previous": None, "z_previous": None}
        assert needs[1] == {"x": 2, "y": None, "x_previous": 1, "y_previous": 4, "z_previous": 6}
        assert needs[2] == {"x": None, "y": None, "x_previous": 2, "y_previous": None, "z_previous": 7}
        assert needs[3] == {"x": None, "y": None, "x_previous": None, "y_previous": None, "z_previous": 8}

    def test_lengths_are_uniform(self):
        """On scales 1..3 the nine pairs of lengths are equally likely; at one scale, its 2 n - 1 pairs."""

        def lengths(instances):
            return Counter((len(i.latent[0]), len(i.latent[1])) for i in instances)

        training = lengths(self.task.sample_training((1, 2, 3), 9000, generator()))
        assert len(training) == 9
        assert all(abs(count - 1000) < 150 for count in training.values())
        stream = generator(1)
        single = lengths(self.task.sample(3, stream) for _ in range(5000))
        assert set(single) == {(3, 1), (3, 2), (3, 3), (1, 3), (2, 3)}
        assert all(abs(count - 1000) < 150 for count in single.values())

    def test_no_leading_zero_but_a_single_one(self):
        addends = [addend for i in self.task.sample_training((1, 2, 3, 4), 3000, generator()) for addend in i.latent]
        assert all(addend[-1] != 0 for addend in addends if len(addend) > 1)
        assert (0,) in addends
        with pytest.raises(ValueError, match="has a leading zero: '120'"):
            self.task.read("b120+3=")


class TestAdditionAligned(TaskContract):
    task = TASKS["addition-aligned"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("+")
        return str(number(x) + number(y)).zfill(len(x) + 1)[::-1] + "e"

    def test_width_of_a_run(self):
        task = self.task.for_scales((1, 2, 4))
        assert {len(task.sample(scale, generator()).text) for scale in (1, 2, 3, 4)} == {1 + 4 + 1 + 4 + 1 + 5 + 1}
        assert task.read("b9900+1000=").answer == "00100e"
        with pytest.raises(ValueError, match="does not fit the aligned width 4"):
            task.sample(5, generator())

    def test_shares_latent_and_concept_with_addition(self):
        unaligned = TASKS["addition"]
        for scale in (1, 3, 5):
            a, b = self.task.sample(scale, generator(scale)), unaligned.sample(scale, generator(scale))
            assert a.latent == b.latent
        assert self.task.concept is unaligned.concept


class TestParity(TaskContract):
    task = TASKS["parity"]

    def expected(self, prompt):
        bits = prompt[1:-1]
        return "".join(str(bits[: k + 1].count("1") % 2) for k in range(len(bits))) + "e"

    def test_needs(self):
        assert self.task.needs(self.task.read("b11=")) == [
            {"x": 1, "y_previous": None},
            {"x": 2, "y_previous": 4},
            {"x": None, "y_previous": 5},
        ]


class TestParityDirect(TaskContract):
    task = TASKS["parity-direct"]

    def expected(self, prompt):
        return f"{prompt.count('1') % 2}e"


class TestMultiplication(TaskContract):
    task = TASKS["multiplication"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("*")
        return str(int(x) * number(y)).zfill(len(y) + 1)[::-1] + "e"

    def test_factor_is_one_to_nine(self):
        factors = {i.latent[0] for i in self.task.sample_training((1, 2), 500, generator())}
        assert factors == set(range(1, 10))


class TestDivision(TaskContract):
    task = TASKS["division"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("\\")
        return str(int(y) // int(x)).zfill(len(y)) + "e"

    def test_leading_zero(self):
        with pytest.raises(ValueError, match="leading zero"):
            self.task.read("b7\\012=")

    def test_worked_strings(self):
        assert self.task.read("b7\\861=").answer == "123e"
        assert self.task.read("b4\\38=").answer == "09e"


class TestAdditionMod10(TaskContract):
    task = TASKS["addition-mod10"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("+")
        assert len(x) == len(y)
        return f"{(number(x) + number(y)) % 10}e"


class TestReversal(TaskContract):
    task = TASKS["reversal"]

    def expected(self, prompt):
        return prompt[-2:0:-1] + "e"

    def test_needs(self):
        assert self.task.needs(self.task.read("b40=")) == [{"x": 2}, {"x": 1}, {"x": None}]


class TestSuccessor(TaskContract):
    task = TASKS["successor"]

    def expected(self, prompt):
        return str(number(prompt[1:-1]) + 1)[::-1] + "e"

    def test_carries_of_every_length_are_common(self):
        stream = generator()
        lengths = Counter(max(self.task.carries(self.task.sample(5, stream))) for _ in range(600))
        assert all(lengths[length] >= 60 for length in range(6))


class TestDifference(TaskContract):
    task = TASKS["difference"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("\\")
        return "".join(str((int(a) + 10 - int(b)) % 10) for a, b in zip(x, y, strict=True)) + "e"


class TestSubtraction(TaskContract):
    task = TASKS["subtraction"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("\\")
        return str(number(x) - number(y)).zfill(len(x))[::-1] + "e"

    def test_the_larger_number_comes_first(self):
        with pytest.raises(ValueError, match="at least as large"):
            self.task.read("b12\\22=")
        assert self.task.read("b9\\9=").answer == "0e"


class TestInterleaving(TaskContract):
    task = TASKS["interleaving"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("+")
        return "".join(map("".join, zip(x, y, strict=True))) + "e"


class TestLarger(TaskContract):
    task = TASKS["larger"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("+")
        return (x if int(x) > int(y) else y) + "e"


class TestAddends(TaskContract):
    task = TASKS["addends"]

    def expected(self, prompt):
        return str(sum(map(number, prompt[1:-1].split("+"))))[::-1] + "e"

    @pytest.mark.parametrize("prompt", ["b=", "bx=", "b1+2=", "b1+2+=", "b1+2+3+4=", "b1+2+30="])
    def test_prompts_of_other_tasks_are_refused(self, prompt):
        super().test_prompts_of_other_tasks_are_refused(prompt)

    def test_another_number_of_addends(self):
        four = Task("four", Numbers(4), total, SumFormat(4))
        assert four.read("b1+99+9+5=").answer == "411e"
        assert four.sample(7, generator()).prompt.count("+") == 3


class TestAdditionForward(TaskContract):
    task = TASKS["addition-forward"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("+")
        return str(int(x) + int(y)).zfill(1 + max(len(x), len(y))) + "e"

    def test_needs(self):
        """The sum of 12 and 3 begins with the carry of 2 + 3 and 1."""
        assert self.task.needs(self.task.read("b12+3=")) == [
            {"x": None, "y": None, "x_1": 1, "y_1": None, "x_2": 2, "y_2": 4},
            {"x": 1, "y": None, "x_1": 2, "y_1": 4},
            {"x": 2, "y": 4},
            {"x": None, "y": None},
        ]


class TestCopySeparator(TaskContract):
    task = TASKS["copy-separator"]

    def expected(self, prompt):
        return prompt[1:-1] + "e"


class TestMaximum(TaskContract):
    task = TASKS["maximum"]

    def expected(self, prompt):
        return max(prompt[1:-1]) + "e"


class TestModularSum(TaskContract):
    task = TASKS["modular-sum"]

    def expected(self, prompt):
        x = [int(digit) for digit in prompt[1:-1]]
        return "".join(str(total % 10) for total in accumulate(x)) + "e"


class TestCopyTwice(TaskContract):
    task = TASKS["copy-twice"]

    def expected(self, prompt):
        return f"{prompt[1:-1]}*{prompt[1:-1]}e"


class TestAdditionScratchpad(TaskContract):
    task = TASKS["addition-scratchpad"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("+")
        total = str(int(x) + int(y)).zfill(1 + max(len(x), len(y)))
        return f"{total[::-1]}\\{total}e"

    def test_needs(self):
        """The sum of 12 and 3: s_1 needs 1 and 2 of the first addend, 3 of the second, and s_0."""
        #        b 1 2 + 3 = 5 1 0 \\ 0 1 5 e
        # index  0 1 2 3 4 5 6 7 8 9
        needs = self.task.needs(self.task.read("b12+3="))
        assert needs[0] == {"x": 2, "y": 4, "x_previous": None, "y_previous": None, "s_previous": None}
        assert needs[1] == {"x": 1, "y": None, "x_previous": 2, "y_previous": 4, "s_previous": 6}
        assert needs[4:] == [{"s": 8}, {"s": 7}, {"s": 6}, {"s": None}]


class TestSorting(TaskContract):
    task = TASKS["sorting"]

    def expected(self, prompt):
        inserted, lists = [], []
        for digit in prompt[1:-1]:
            insort(inserted, digit)
            lists.append("".join(inserted))
        return "*".join(lists) + "e"


class TestTwoDigitMultiplication(TaskContract):
    task = TASKS["two-digit-multiplication"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("*")
        low, high = (str(int(digit) * number(y)).zfill(len(y) + 1)[::-1] for digit in x)
        return f"{low}+{high}\\{str(number(x) * number(y)).zfill(len(y) + 2)[::-1]}e"

    def test_without_a_scratchpad_two_places_would_tell_the_carry(self):
        """Place sums of the direct product are at most 162 and carries at most 17, which two digits written tell."""
        carries = {0}
        while (more := carries | {(place + carry) // 10 for place in range(163) for carry in carries}) != carries:
            carries = more
        assert max(carries) == 17
        for first in range(163):
            for second in range(163):
                known = {}
                for carry in carries:
                    middle, digit = divmod(first + carry, 10)
                    last, next_digit = divmod(second + middle, 10)
                    assert known.setdefault((digit, next_digit), last) == last

    def test_the_first_factor_has_two_digits(self):
        for prompt in ("b1*2=", "b10*2=", "b123*2="):
            with pytest.raises(ValueError, match=r"two digits|leading zero"):
                self.task.read(prompt)


class TestLongMultiplication(TaskContract):
    task = TASKS["long-multiplication"]

    def expected(self, prompt):
        x, y = prompt[1:-1].split("*")
        rows, rest = [], 0
        for digit in x:
            rest = rest // 10 + int(digit) * number(y)
            rows.append(str(rest).zfill(len(y) + 1)[::-1])
        return f"{'+'.join(rows)}\\{str(number(x) * number(y)).zfill(len(x) + len(y))[::-1]}e"


class TestBrackets(TaskContract):
    task = TASKS["brackets"]

    def expected(self, prompt):
        states, opened = "", []
        for bracket in prompt[1:-1]:
            if opened is None or (bracket == ")" and not opened) or (bracket == "(" and len(opened) == 9):
                opened = None
            elif bracket == "(":
                opened.append(bracket)
            else:
                opened.pop()
            states += "X" if opened is None else str(len(opened))
        return states + ("Y" if opened == [] else "N") + "e"

    def test_about_half_of_even_strings_are_balanced(self):
        answers = [self.task.sample(8, generator(seed)).answer for seed in range(300)]
        assert 100 < sum(answer.endswith("Ye") for answer in answers) < 200


class TestRecall(TaskContract):
    task = TASKS["recall"]

    def expected(self, prompt):
        pairs, queries = prompt[1:-1].split("+")
        table = dict(zip(pairs[::2], pairs[1::2], strict=True))
        return "".join(map(table.get, queries)) + "e"

    @pytest.mark.parametrize("prompt", ["b12+2=", "b1213+11=", "b12+11=", "b123+1="])
    def test_what_is_no_table(self, prompt):
        with pytest.raises(ValueError, match="must"):
            self.task.read(prompt)


def test_every_task_is_tested_under_its_name():
    tested = {kind.task.name for kind in TaskContract.__subclasses__() if kind.__module__ == __name__}
    assert tested == set(TASKS)
    assert all(task.name == name for name, task in TASKS.items())


def test_training_sets_have_the_paper_s_size():
    assert TASKS["copy"].latent.training_size((1, 2, 3, 4, 5)) == 10_000
    assert TASKS["copy"].latent.training_size((1, 2, 3)) == 6000
    assert TASKS["addition"].latent.training_size((1, 2, 3, 4)) == 10_000


def test_a_subclass_stays_one_in_a_run():
    class Loud(type(TASKS["copy"])):
        def needs(self, instance):
            return "loud"

    copy = TASKS["copy"]
    task = Loud("loud", copy.latent, copy.concept, copy.format).for_scales((1, 2))
    assert task.needs(task.read("b1=")) == "loud"


def test_scales_are_balanced_in_training():
    instances = TASKS["copy"].sample_training((1, 2, 3, 4, 5), 10_000, generator())
    assert Counter(instance.scale for instance in instances) == dict.fromkeys(range(1, 6), 2000)


def test_docstrings_show_true_strings():
    """Every `>>> prompt=answer` of a format's docstring is what the task makes of that prompt."""
    for task in TASKS.values():
        examples = [line.split()[1] for line in type(task.format).__doc__.splitlines() if ">>>" in line]
        assert len(examples) >= 2, task.name
        for example in examples:
            prompt, answer = example.split("=")
            assert task.read(prompt + "=").answer == answer


def test_digits_are_uniform():
    digits = torch.tensor([TASKS["copy"].sample(5, generator(seed)).latent for seed in range(2000)])
    counts = torch.bincount(digits.flatten(), minlength=10)
    assert (counts - 1000).abs().max() < 150


@given(st.lists(st.integers(0, 81), max_size=8))
def test_a_carry_has_travelled_as_far_as_what_it_depends_on(sums):
    """The carry into place t has travelled k places if it is known from the k places before t and from no fewer."""

    def carry(places):
        value = 0
        for place in places:
            value = (place + value) // 10
        return value

    for t, length in enumerate(carry_lengths(sums)):
        enough = [k for k in range(1, t + 1) if all(carry(sums[t - j : t]) == carry(sums[:t]) for j in range(k, t + 1))]
        assert length == (min(enough) if carry(sums[:t]) else 0)


def test_carries_are_given_for_each_answer_token():
    addition, aligned = TASKS["addition"], TASKS["addition-aligned"].for_scales((4,))
    assert addition.carries(addition.read("b999+1=")) == [0, 1, 2, 3, 0]
    assert aligned.carries(aligned.read("b9990+1000=")) == [0, 1, 2, 3, 0, 0]
    assert TASKS["multiplication"].carries(TASKS["multiplication"].read("b5*22=")) == [0, 1, 1, 0]
    assert TASKS["copy"].carries(TASKS["copy"].read("b12=")) is None


@pytest.mark.parametrize(
    ("task", "most"),
    [
        *[("parity", 2), ("modular-sum", 2), ("brackets", 2), ("copy-twice", 2), ("sorting", 5)],
        *[("addition-scratchpad", 5), ("two-digit-multiplication", 5), ("long-multiplication", 7)],
        *[("parity-direct", None), ("addition-forward", None)],
    ],
)
def test_on_how_many_tokens_one_depends(task, most):
    """With intermediate results on a bounded number, at any scale; without them on more the longer the string is."""
    own = TASKS[task]

    def needed(scale):
        needs = own.needs(own.sample(scale, generator()))
        return max(sum(index is not None for index in slots.values()) for slots in needs)

    if most is None:
        assert needed(12) >= 12
    else:
        assert needed(6) == needed(12) == most
        page = (Path(__file__).parents[2] / "docs/data.md").read_text()
        (row,) = [line for line in page.splitlines() if f"`{task}`" in line and "needed" in line]
        assert f"| at most {most} " in row
