"""Extrapolatable position embedding (xPos)."""

import cmath

import pytest
import torch

from contracts.position import PositionContract, context_of
from ldhd.positions import Rotary, XPos


class TestXPos(PositionContract):
    make = XPos

    def test_formula(self):
        """Each pair of coordinates as a complex number, turned and scaled by the distance."""
        n, d = 40, 8
        q, k = torch.randn(1, 1, n, d), torch.randn(1, 1, n, d)
        turned_q, turned_k = XPos(d, 1, scale_base=16.0).rotate(q, k, context_of(torch.zeros(1, n)))
        scores = (turned_q @ turned_k.mT)[0, 0]
        for j in range(0, n, 3):
            for i in range(0, j + 1, 2):
                total = 0.0
                for m in range(d // 2):
                    query = complex(q[0, 0, j, m], q[0, 0, j, m + d // 2])
                    key = complex(k[0, 0, i, m], k[0, 0, i, m + d // 2])
                    zeta = (2 * m / d + 0.4) / 1.4
                    turn = cmath.exp(1j * (j - i) * 10_000 ** (-2 * m / d))
                    total += (query * key.conjugate() * turn).real * zeta ** ((j - i) / 16.0)
                assert abs(float(scores[j, i]) - total) < 1e-3

    def test_it_agrees_with_x_transformers(self):
        library = pytest.importorskip("x_transformers.x_transformers", reason="the bench extra is not installed")
        n, d = 30, 8
        q, k = torch.randn(1, 1, n, d), torch.randn(1, 1, n, d)
        theirs = library.RotaryEmbedding(d, use_xpos=True)
        frequencies, scale = theirs.forward_from_seq_len(n)
        # theirs turns neighbouring coordinates
        order = torch.arange(d).view(2, d // 2).mT.flatten()
        a = library.apply_rotary_pos_emb(q[..., order], frequencies, scale)
        b = library.apply_rotary_pos_emb(k[..., order], frequencies, scale**-1)
        ours_q, ours_k = XPos(d, 1).rotate(q, k, context_of(torch.zeros(1, n)))
        assert torch.allclose(ours_q @ ours_k.mT, a @ b.mT, atol=1e-3)

    def test_without_decay_it_is_rope(self):
        q, k, context = torch.randn(1, 2, 9, 8), torch.randn(1, 2, 9, 8), context_of(torch.zeros(1, 9))
        ours, plain = XPos(16, 2, scale_base=1e9).rotate(q, k, context), Rotary(16, 2).rotate(q, k, context)
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ours, plain, strict=True))

    def test_wrong_options_are_refused(self):
        with pytest.raises(ValueError, match="must be even, got 3"):
            XPos(6, 2)
        with pytest.raises(ValueError, match=r"must be positive, got 10000\.0 and 0"):
            XPos(8, 2, scale_base=0.0)
