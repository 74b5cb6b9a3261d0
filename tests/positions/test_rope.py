"""Rotary position embedding (RoPE)."""

from dataclasses import replace

import pytest
import torch

from contracts.position import PositionContract, context_of
from ldhd.positions import Rotary


def at(positions):
    """The context of tokens at these positions."""
    return replace(context_of(positions), positions=positions)


class TestRotary(PositionContract):
    make = Rotary

    def test_scores_agree_with_transformers(self):
        from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

        q, k = torch.randn(2, 3, 9, 8), torch.randn(2, 3, 9, 8)
        positions = torch.arange(9).expand(2, 9) + torch.tensor([[0], [40]])
        frequencies = 1.0 / 10_000 ** (torch.arange(0, 8, 2) / 8)
        angles = positions[..., None] * torch.cat([frequencies, frequencies])
        theirs_q, theirs_k = apply_rotary_pos_emb(q, k, angles.cos(), angles.sin())
        ours_q, ours_k = Rotary(24, 3).rotate(q, k, at(positions))
        assert torch.allclose(ours_q @ ours_k.mT, theirs_q @ theirs_k.mT, atol=1e-5)

    def test_scores_depend_on_the_distance_only(self):
        q, k = torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8)
        near, far = (Rotary(16, 2).rotate(q, k, at(torch.arange(5)[None] + shift)) for shift in (0, 100))
        assert torch.allclose(near[0] @ near[1].mT, far[0] @ far[1].mT, atol=1e-4)

    def test_neighbours_far_away_are_turned_apart_in_a_bfloat16_model(self):
        q = torch.randn(1, 2, 2, 8)
        positions = torch.tensor([[1000, 1001]])
        exact, _ = Rotary(16, 2).rotate(q, q, at(positions))
        rounded, _ = Rotary(16, 2).bfloat16().rotate(q.bfloat16(), q.bfloat16(), at(positions))
        assert torch.allclose(rounded.float(), exact, atol=0.05)

    def test_odd_head_dimension_is_refused(self):
        with pytest.raises(ValueError, match="must be even, got 3"):
            Rotary(6, 2)
