"""No position embedding (NoPE)."""

from collections.abc import Sequence

from ldhd.positions.position import Position


class NoPosition(Position):
    """Order is known through the causal mask alone.

    Kazemnejad et al., The Impact of Positional Encoding on Length Generalization in Transformers, 2023.
    """

    name = "none"
    title = "NoPE"
    color = "#000000"
    by_distance = True
    additive = True
    some_queries = True

    def relation(self, tokens: Sequence[str], j: int, i: int) -> None:
        return None
