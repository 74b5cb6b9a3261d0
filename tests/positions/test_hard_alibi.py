"""Hard-ALiBi."""

import pytest
import torch

from contracts.position import PositionContract, bias_of
from ldhd.positions import HardAlibi


class TestHardAlibi(PositionContract):
    make = HardAlibi
    hidden_below = -500.0

    def test_eight_of_twelve_heads_have_windows_as_in_its_authors_code(self):
        bias = bias_of(HardAlibi(24, 12), torch.randn(1, 12, 15, 2), torch.randn(1, 15, 24))[0]
        for head in range(12):
            for j in range(15):
                for i in range(j + 1):
                    hidden = head < 8 and j - i > head
                    assert bias[head, j, i] == (-1000.0 if hidden else 0.0)

    @pytest.mark.parametrize(("share", "heads", "windows"), [(2 / 3, 4, 3), (2 / 3, 8, 5), (0.9, 2, 1), (0.01, 8, 1)])
    def test_there_are_heads_of_both_kinds(self, share, heads, windows):
        assert HardAlibi(16, heads, share=share).windows == windows

    def test_a_share_is_between_0_and_1(self):
        with pytest.raises(ValueError, match="share must be between 0 and 1, got 1"):
            HardAlibi(8, 2, share=1.0)
