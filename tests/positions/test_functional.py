"""The fast formulas against the printed ones."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.formulas import random_anchor, rpe_absolute_by_loops, rpe_square_by_loops
from ldhd.positions.functional import rpe_absolute_bias, rpe_bias, rpe_square_bias

PRECISION = {torch.float32: 1e-5, torch.float64: 1e-12}


def problem(n, rows, dtype, shared, batch=2, heads=2, d=4):
    q = torch.randn(batch, heads, n, d, dtype=dtype)
    shape = (rows, d) if shared else (heads, rows, d)
    return q, random_anchor(batch, heads, n, dtype), torch.randn(shape, dtype=dtype)


def distance(a, b):
    """The largest difference where i <= j."""
    return float((a - b).tril().abs().max())


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
