"""Position interpolation and YaRN."""

import pytest
import torch

from contracts.position import PositionContract, context_of
from ldhd.positions import PositionInterpolation, Rotary, Yarn


def scores(position, n=40, exploring=False):
    stream = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, 2, n, 8, generator=stream) for _ in range(2))
    turned_q, turned_k = position.rotate(q, k, context_of(torch.zeros(1, n), exploring=exploring))
    return turned_q @ turned_k.mT


def from_transformers(kind, n=40, **parameters):
    """The same scores, with the frequencies and the factor that transformers computes."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    config = LlamaConfig(
        hidden_size=16,
        num_attention_heads=2,
        max_position_embeddings=parameters.pop("longest"),
        rope_parameters={"rope_type": kind, "rope_theta": 10_000.0, **parameters},
    )
    frequencies, scale = ROPE_INIT_FUNCTIONS[kind](config, device="cpu")
    angles = torch.arange(n)[None, :, None] * torch.cat([frequencies, frequencies])
    stream = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, 2, n, 8, generator=stream) for _ in range(2))
    turned_q, turned_k = apply_rotary_pos_emb(q, k, scale * angles.cos(), scale * angles.sin())
    return turned_q @ turned_k.mT


class InterpolatedContract(PositionContract):
    def test_while_exploring_it_is_rope(self):
        plain = scores(Rotary(16, 2))
        assert torch.allclose(scores(self.make(16, 2), exploring=True), plain, atol=1e-5)
        assert not torch.allclose(scores(self.make(16, 2)), plain, atol=1e-2)

    def test_with_factor_1_it_is_rope(self):
        assert torch.allclose(scores(self.make(16, 2, factor=1.0)), scores(Rotary(16, 2)), atol=1e-5)

    def test_wrong_options_are_refused(self):
        with pytest.raises(ValueError, match=r"factor must be at least 1, got 0\.5"):
            self.make(16, 2, factor=0.5)
        with pytest.raises(ValueError, match="base must be above 1, got 1"):
            self.make(16, 2, base=1.0)
        with pytest.raises(ValueError, match="must be even, got 3"):
            self.make(6, 2)


class TestPositionInterpolation(InterpolatedContract):
    def make(self, dimension, heads, layer=0, **options):
        return PositionInterpolation(dimension, heads, layer, **{"factor": 3.0, **options})

    def test_scores_agree_with_transformers(self):
        expected = from_transformers("linear", longest=160, factor=8.0)
        assert torch.allclose(scores(PositionInterpolation(16, 2, factor=8.0)), expected, atol=1e-4)

    def test_a_multiple_of_a_training_distance_has_its_relation(self):
        position = PositionInterpolation(16, 2, factor=4.0)
        assert position.relation("", 20, 8) == position.training_relations("", 5, 2)[1]


class TestYarn(InterpolatedContract):
    make = Yarn

    @pytest.mark.parametrize(("length", "factor"), [(20, 16.0), (5, 2.0), (2048, 8.0), (100_000, 4.0)])
    def test_scores_agree_with_transformers(self, length, factor):
        expected = from_transformers(
            "yarn", longest=int(length * factor), factor=factor, original_max_position_embeddings=length
        )
        position = Yarn(16, 2, factor=factor, training_length=length)
        assert torch.allclose(scores(position), expected, atol=1e-4)

    def test_training_length_must_be_positive(self):
        with pytest.raises(ValueError, match="training_length must be at least 1, got 0"):
            Yarn(16, 2, training_length=0)
