"""The cost of anchors that stand in several places."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from contracts.position import bias_of
from ldhd.positions import LatentWindow
from ldhd.positions.unique import discourage_repeated, part_of_batch, repeated

TEXTS = st.lists(st.text("b+=123", min_size=1, max_size=8), min_size=1, max_size=4)


def scores_of(texts, anchors=2):
    """Those that depend on the token alone, -inf on padding."""
    generator = torch.Generator().manual_seed(0)
    of_token = torch.randn(128, anchors, generator=generator)
    scores = torch.full((len(texts), anchors, max(map(len, texts))), -torch.inf)
    for row, text in enumerate(texts):
        for index, token in enumerate(text):
            scores[row, :, index] = of_token[ord(token)]
    return scores


@given(TEXTS)
def test_repeated_are_tokens_that_stand_elsewhere_in_their_own_text(texts):
    found = repeated(scores_of(texts))[:, 0]
    for row, text in zip(found, texts, strict=True):
        assert row[: len(text)].tolist() == [text.count(token) > 1 for token in text]
        assert not row[len(text) :].any()


@given(TEXTS, st.floats(0.01, 10))
def test_gradient_is_that_of_the_cost(texts, weight):
    scores = scores_of(texts).requires_grad_()
    other = torch.randn(scores.shape)
    discouraged = discourage_repeated(scores, weight)
    assert torch.equal(discouraged, scores)
    (found,) = torch.autograd.grad((discouraged * other).masked_fill(scores == -torch.inf, 0.0).sum(), scores)
    cost = sum(
        F.softplus(scores[row, :, index]).sum()
        for row, text in enumerate(texts)
        for index, token in enumerate(text)
        if text.count(token) > 1
    )
    loss = (scores * other).masked_fill(scores == -torch.inf, 0.0).sum() + weight * cost / sum(map(len, texts))
    (expected,) = torch.autograd.grad(loss, scores)
    assert torch.allclose(found, expected, atol=1e-5)


def test_parts_of_a_batch_have_together_the_gradient_of_the_whole():
    scores = scores_of(["b11=", "b12=", "b22=", "b3+3"]).requires_grad_()
    (whole,) = torch.autograd.grad(discourage_repeated(scores, 0.3).sum(), scores, retain_graph=True)
    parts = torch.zeros_like(scores)
    for rows in (slice(0, 1), slice(1, 4)):
        with part_of_batch(len(scores[rows]) / len(scores)):
            (part,) = torch.autograd.grad(discourage_repeated(scores[rows], 0.3).sum(), scores)
        parts += part
    assert torch.allclose(parts, whole)
    assert not torch.allclose(whole, torch.ones_like(whole))


def test_digits_cease_to_be_anchors_and_delimiters_are_left_alone():
    """The gradient of a loss that does not care for anchors lowers the score of a repeated token and of no other."""
    torch.manual_seed(0)
    hidden = torch.eye(4)[[0, 1, 1, 2, 1]][None]  # b 7 7 = 7, one dimension for each token
    for unique, moved in ((0.1, [False, True, False, False]), (0.0, [False] * 4)):
        position = LatentWindow(4, 2, unique=unique).train()
        (0.0 * bias_of(position, torch.randn(1, 2, 5, 2), hidden).sum()).backward()
        gradient = position.anchor.key.weight.grad
        assert ((gradient > 0).all(0) == torch.tensor(moved)).all()
        assert (gradient >= 0).all()
