"""The fast formulas against the printed ones."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.formulas import random_anchor, rpe_absolute_by_loops, rpe_square_by_distances, rpe_square_by_loops
from ldhd.positions import POSITIONS, RPESquare
from ldhd.positions.context import Context
from ldhd.positions.functional import rpe_absolute_bias, rpe_bias, rpe_square_bias
from ldhd.positions.kernels.aligned import key_rows
from ldhd.positions.kernels.fourier import good_size
from ldhd.positions.kernels.long_square import long_square, own_weights
from ldhd.positions.kernels.square import hard_square, square

PRECISION = {torch.float32: 1e-5, torch.float64: 1e-12}


def problem(n, rows, dtype, shared, batch=2, heads=2, d=4):
    q = torch.randn(batch, heads, n, d, dtype=dtype)
    shape = (rows, d) if shared else (heads, rows, d)
    return q, random_anchor(batch, heads, n, dtype), torch.randn(shape, dtype=dtype)


def distance(a, b):
    """The largest difference where i <= j."""
    return float((a - b).detach().tril().abs().max())


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("w", [0, 1, 2, 5, 8, 9, 10, 13])
def test_rpe_square_is_the_printed_formula(dtype, w):
    """n = 10: clipped by shifts (w <= 8), unclipped by FFT (w = 9), and tables longer than the string."""
    for shared in (True, False):
        q, anchor, table = problem(10, 2 * w + 1, dtype, shared)
        assert distance(rpe_square_bias(q, anchor, table), rpe_square_by_loops(q, anchor, table)) < PRECISION[dtype]


def test_rpe_square_clipped_by_fft():
    """Clipping beyond the largest shift, as in a table of 9 at n = 14."""
    q, anchor, table = problem(14, 19, torch.float64, False, batch=1)
    assert distance(rpe_square_bias(q, anchor, table), rpe_square_by_loops(q, anchor, table)) < 1e-12


@given(n=st.integers(1, 7), w=st.integers(0, 8), seed=st.integers(0, 2**20))
def test_rpe_square_at_any_size(n, w, seed):
    torch.manual_seed(seed)
    q, anchor, table = problem(n, 2 * w + 1, torch.float64, seed % 2 == 0, batch=1)
    assert distance(rpe_square_bias(q, anchor, table), rpe_square_by_loops(q, anchor, table)) < 1e-12


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("w", [0, 1, 3, 9, 12])
def test_rpe_absolute_is_the_printed_formula(dtype, w):
    for shared in (True, False):
        q, anchor, table = problem(10, w + 1, dtype, shared)
        assert distance(rpe_absolute_bias(q, anchor, table), rpe_absolute_by_loops(q, anchor, table)) < PRECISION[dtype]


def test_rpe_is_a_table_lookup():
    q, _, table = problem(9, 5, torch.float64, False)
    bias = rpe_bias(q, 9, table)
    for j in range(9):
        for i in range(j + 1):
            assert torch.allclose(bias[:, :, j, i], (q[:, :, j] * table[:, min(j - i, 4)]).sum(-1), atol=1e-12)


def test_anchored_at_one_token_rpe_square_is_rpe():
    """All positions measure from token 0: the difference of distances is j - i."""
    q, _, table = problem(12, 2 * 11 + 1, torch.float64, False)
    anchor = torch.zeros(2, 2, 12, 12, dtype=torch.float64)
    anchor[..., 0] = 1
    assert distance(rpe_square_bias(q, anchor, table), rpe_bias(q, 12, table[:, 11:])) < 1e-12


def test_anchored_at_themselves_all_positions_are_alike():
    q, _, table = problem(6, 5, torch.float64, True)
    bias = rpe_square_bias(q, torch.eye(6, dtype=torch.float64).expand(2, 2, 6, 6), table)
    assert distance(bias, (q @ table[2])[..., None].expand(2, 2, 6, 6)) < 1e-12


@pytest.mark.parametrize("rows", [5, 19])
def test_gradients(rows):
    q, anchor, table = problem(10, rows, torch.float64, False, batch=1, heads=1, d=2)
    inputs = [tensor.requires_grad_() for tensor in (q, anchor, table)]
    assert torch.autograd.gradcheck(lambda *a: rpe_square_bias(*a).tril(), inputs)


@pytest.mark.parametrize("w", [1, 3, 20, 200])
def test_blocks_change_nothing(w):
    """Beyond one block of the product (48), of its smaller blocks (32) and of the transforms (128)."""
    for n in (49, 131):
        q, anchor, table = problem(n, 2 * w + 1, torch.float64, False, batch=1, heads=1)
        inputs = [tensor.requires_grad_() for tensor in (q, anchor, table)]
        weight = torch.randn(n, n, dtype=torch.float64)
        fast, plain = rpe_square_bias(*inputs), rpe_square_by_distances(*inputs)
        assert distance(fast, plain) < 1e-10
        for a, b in zip(*(torch.autograd.grad((x * weight).sum(), inputs) for x in (fast, plain)), strict=True):
            assert torch.allclose(a, b, atol=1e-9)


def test_what_stands_above_the_diagonal_is_ignored():
    q, anchor, table = problem(7, 5, torch.float64, True)
    noise = torch.randn_like(anchor).triu(1)
    for function, rows in ((rpe_square_bias, 5), (rpe_absolute_bias, 3)):
        assert torch.equal(function(q, anchor + noise, table[:rows]), function(q, anchor, table[:rows]))


def test_anchors_for_all_heads_are_those_of_each():
    for rows in (5, 39):
        q, anchor, table = problem(20, rows, torch.float64, False)
        shared = anchor[:, :1].requires_grad_()
        one, each = rpe_square_bias(q, shared, table), rpe_square_bias(q, shared.expand_as(anchor), table)
        assert distance(one, each) < 1e-12
        gradients = [torch.autograd.grad(x.square().sum(), shared)[0] for x in (one, each)]
        assert torch.allclose(*gradients, atol=1e-10)


def test_hard_anchors_are_looked_up_and_learn_like_soft_ones():
    torch.manual_seed(0)
    for w in (1, 4, 11):
        scores = torch.randn(2, 2, 12, 2 * w + 1, dtype=torch.float64, requires_grad=True)
        distances = (torch.rand(2, 1, 12) * (torch.arange(12) + 1)).long()
        soft = torch.rand(2, 1, 12, 12, dtype=torch.float64, requires_grad=True)
        chosen = torch.zeros(2, 1, 12, 12, dtype=torch.float64).scatter_(-1, 11 - distances[..., None], 1.0)
        weight = torch.randn(12, 12, dtype=torch.float64).tril()
        hard = hard_square(scores, distances, soft)
        through = square(scores, chosen + (soft - soft.detach()))
        assert distance(hard, through) < 1e-12
        a, b = (torch.autograd.grad((x * weight).sum(), (scores, soft)) for x in (hard, through))
        assert all(torch.allclose(x, y, atol=1e-10) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("w", [1, 2, 4])
@pytest.mark.parametrize(("keys", "queries"), [(7, 7), (90, 33), (150, 150)])
def test_long_strings_have_the_terms_and_gradients_of_short_ones(w, keys, queries):
    torch.manual_seed(0)
    anchors = (3 * torch.randn(2, 3, keys, dtype=torch.float64)).requires_grad_()
    scores = torch.randn(2, 3, queries, 2 * w + 1, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(queries, keys, dtype=torch.float64).tril(keys - queries)
    terms = long_square(scores, own_weights(anchors)), square(scores, key_rows(anchors, keys))
    assert distance(terms[0] * (weight != 0), terms[1] * (weight != 0)) < 1e-12
    a, b = (torch.autograd.grad((term * weight).sum(), (anchors, scores)) for term in terms)
    assert all(torch.allclose(x, y, atol=1e-10) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    ("name", "options"),
    [("rpe-square", {}), *(("latent-window", {"absolute": kind}) for kind in (False, True, "start"))],
)
def test_embeddings_are_the_same_on_both_sides_of_the_limit(name, options, monkeypatch):
    position = POSITIONS[name](16, 2, **options)
    q, hidden = torch.randn(2, 2, 30, 8), torch.randn(2, 30, 16)
    found = []
    for limit in (1, 10**6):
        monkeypatch.setattr("ldhd.positions.kernels.long_square.LONG_FROM", limit)
        context = Context.causal(hidden, exploring=True, generator=torch.Generator().manual_seed(0))
        found.append(position.bias(q, q, context).tril())
    assert torch.allclose(*found, atol=1e-4)


def test_own_weights_ignore_padding():
    scores = torch.tensor([[[-torch.inf, -3000.0, -2999.0, 0.0, -torch.inf]]], requires_grad=True)
    own = own_weights(scores)
    assert torch.allclose(own, torch.tensor([[[0.0, 1.0, 0.73106, 1.0, 0.0]]]), atol=1e-4)
    (gradient,) = torch.autograd.grad(own.sum(), scores)
    assert gradient.isfinite().all()


def test_anchors_far_apart_in_score_do_not_overflow():
    """Gaps of 3000, beyond what e^x holds even in float64, and padding before and after."""
    scores = torch.tensor([[[-torch.inf, -3000.0, -2999.0, 0.0, -50.0, -torch.inf]]])
    rows = key_rows(scores, 6)
    assert rows.isfinite().all()
    assert torch.allclose(rows[0, 0, 2], torch.tensor([0, 0, 0, 0, 0.26894, 0.73106]), atol=1e-4)
    assert torch.allclose(rows[0, 0, 4], torch.tensor([0, 0, 0, 0, 1.0, 0]), atol=1e-6)
    assert not rows[0, 0, 0].any()


@given(least=st.integers(1, 5000))
def test_good_sizes_are_even_and_have_small_factors(least):
    size = good_size(least)
    assert size >= least
    assert size % 2 == 0
    assert 2**20 * 3**12 * 5**8 % size == 0


def test_autocast_keeps_the_term_precise():
    position = RPESquare(16, 2, max_distance=20)
    q, hidden = torch.randn(1, 2, 30, 8), torch.randn(1, 30, 16)
    exact = position.bias(q, q, Context.causal(hidden))
    with torch.autocast("cpu", torch.bfloat16):
        low = position.bias(q, q, Context.causal(hidden))
    low.float().tril().sum().backward()
    assert distance(low.float(), exact) < 0.05 * float(exact.abs().max())


def test_an_even_number_of_rows_is_refused():
    q, anchor, table = problem(5, 4, torch.float64, True)
    with pytest.raises(ValueError, match="an odd number of rows, got 4"):
        rpe_square_bias(q, anchor, table)


def test_bfloat16_and_non_contiguous_input():
    q, anchor, table = problem(20, 39, torch.float32, False)
    exact = rpe_square_bias(q, anchor, table)
    for dtype in (torch.bfloat16, torch.float16):
        low = rpe_square_bias(q.to(dtype), anchor.to(dtype), table.to(dtype))
        assert low.dtype == dtype
        assert distance(low.float(), exact) < 0.1 * float(exact.abs().max())
    strided = q.transpose(1, 2).contiguous().transpose(1, 2)
    assert not strided.is_contiguous()
    assert distance(rpe_square_bias(strided, anchor, table), exact) < 1e-5
