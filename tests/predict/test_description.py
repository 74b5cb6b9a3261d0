"""Tasks described in a few lines, and what is said of wrong ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.positions import POSITIONS
from ldhd.predict import predict
from ldhd.predict.description import evaluate, parse_description
from ldhd.tasks import TASKS

COPY = 'format = "b x:n = z:n e"\n[needs]\nx = "x[t]"\n'
REVERSAL = 'format = "b x:n = z:n e"\n[needs]\nx = "x[n-1-t]"\n'
THREE = """
format = "b x:n + y:m + w:k = z:max(n,m,k)+1 e"
exchangeable = [["x", "y", "w"], ["x_before", "y_before", "w_before"]]
train_scales = [1, 2, 3]
[needs]
x = "x[t]"
y = "y[t]"
w = "w[t]"
x_before = "x[t-1]"
y_before = "y[t-1]"
w_before = "w[t-1]"
z_before = "z[t-1]"
"""
MULTIPLICATION = """
format = "b x * y:n = z:n+1 e"
[needs]
x = "x[0]"
y = "y[t]"
y_previous = "y[t-1]"
z_previous = "z[t-1]"
"""


def make(name):
    return POSITIONS[name](8, 2)


@pytest.mark.parametrize(("text", "task"), [(COPY, "copy"), (MULTIPLICATION, "multiplication")])
def test_a_description_is_as_good_as_the_task(text, task):
    described = parse_description(text, task)
    ours = {case.scale: case for case in described.shapes((1, 4))}
    for scale in (1, 4):
        instance = TASKS[task].instance(TASKS[task].latent.shapes(scale)[0])
        assert ours[scale].needs == TASKS[task].needs(instance)
        assert len(ours[scale].text) == len(instance.text)
        assert ours[scale].start == len(instance.prompt)
    for name in POSITIONS:
        for layers in (1, 2):
            mine = predict(described, make(name), (1, 2, 3), range(1, 7), layers, name=name)
            theirs = predict(TASKS[task], make(name), (1, 2, 3), range(1, 7), layers, name=name)
            assert (mine.verdict, mine.linear, mine.max_scale) == (theirs.verdict, theirs.linear, theirs.max_scale)


def test_reversal_is_carried_by_none_of_ours():
    reversal = parse_description(REVERSAL, "reversal")
    (case,) = reversal.shapes([3])
    assert case.text == "b000=000e"
    assert case.needs == [{"x": 3}, {"x": 2}, {"x": 1}, {"x": None}]
    assert {predict(reversal, make(name), range(1, 6), range(1, 11), 2).verdict for name in POSITIONS} == {"fails"}


def test_three_addends_are_carried_like_two():
    three = parse_description(THREE, "three")
    assert len(three.shapes([2])) == 7
    assert {len(case.text) for case in three.shapes([2])} == {12, 13, 14}
    assert predict(three, make("rpe-square"), three.train_scales, range(1, 6)).verdict == "generalises"
    assert predict(three, make("rpe"), three.train_scales, range(1, 6), 2).verdict == "fails"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = ", "mine is no TOML"),
        ('form = "b x:n = z e"', "there is no 'form' in a description; it has format, needs"),
        ("format = 3", "a description has format"),
        ('format = "x:n = z:n e"', "runs from b to one = and on to e"),
        ('format = "b x:n = y = z e"', "runs from b to one = and on to e"),
        ('format = "b x:n ? y:n = z e"', r"token 3 of format .*, '\?', is no delimiter"),
        ('format = "b x:n b y:n = z e"', "token 3 of format .*, 'b', may stand at the beginning or the end only"),
        ('format = "b x:n + x:m = z e"', "token 4 of format .*, 'x:m', names the number x a second time"),
        ('format = "b x:n = z:q e"', "token 4 of format .*, 'z:q', has no length: 'q' in 'q' is unknown; there are n"),
        ('format = "b x:n = z:n/2 e"', "token 4 of format .*, 'z:n/2', has no length: 'n / 2' .* is not allowed"),
        ('format = "b x:n = z:n( e"', "token 4 .*has no length: .* is no expression"),
        ('format = "b x = z e"', "no number of format .* has a length that grows"),
        ('format = "b x:n = z:n e"', r"\[needs\] is missing"),
        ('format = "b x:n = z:n e"\n[needs]\nx = 3', r"needs.x is a place in a number, such as \"x\[t\]\", got 3"),
        ('format = "b x:n = z:n e"\n[needs]\nx = "y[t]"', "needs.x = .*: there is no number 'y'; there are x, z"),
        ('format = "b x:n = z:n e"\n[needs]\nx = "x[m]"', "needs.x = .*: 'm' in 'm' is unknown; there are n, t"),
        (
            'format = "b x:n = z:n e"\n[needs]\nx = "z[t]"',
            "answer token 0, '0' at index 3 of 'b0=0e', needs x at index 3, which is not written before it",
        ),
        ('format = "b x:n = z:n-2 e"\n[needs]\nx = "x[t]"', "z has -1 digits where n = 1"),
        (COPY.replace("[needs]", 'exchangeable = [["x", "y"]]\n[needs]'), "names 'y', which is no slot; there are x"),
        (COPY.replace("[needs]", 'exchangeable = ["x"]\n[needs]'), "a list of groups of slots"),
        (COPY.replace("[needs]", "train_scales = [0]\n[needs]"), "train_scales are whole numbers from 1 up"),
    ],
)
def test_a_wrong_description_points_at_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=message) as raised:
        parse_description(text, "mine")
    assert str(raised.value).startswith("mine")
    assert "\n" not in str(raised.value)


@given(st.integers(0, 9), st.integers(0, 9))
def test_expressions_are_arithmetic(n, t):
    assert evaluate("max(n, t) - 2 * -n + min(3, t)", {"n": n, "t": t}) == max(n, t) + 2 * n + min(3, t)


@pytest.mark.parametrize("text", ["", "n.real", "__import__('os')", "n if n else t", "1.5", "n**t", "max()", "True"])
def test_nothing_else_is_evaluated(text):
    with pytest.raises(ValueError, match=r"is no expression|is not allowed|is unknown"):
        evaluate(text, {"n": 1, "t": 1})
