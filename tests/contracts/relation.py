"""The truth on which the predictor rests: `relation` says exactly which pairs of tokens an embedding can tell apart.

The position term of query j and key i is everything that the hooks contribute to their logit: the vectors that `embed`
adds to both tokens, the product of a fixed query and a fixed key after `rotate`, and `bias`. It is probed with the same
query and the same key at every position, so that content does not matter, and with anchors on the natural delimiters.
"""

from collections import defaultdict

import torch

from ldhd.positions import Position
from ldhd.positions.context import Context
from ldhd.tasks.tokens import encode

TEXTS = ("b90417+5263=26804e", "b417=417e", "b5+2634172=9")
"""Strings whose delimiters stand in the order of `ROLES`."""

ROLES = "b+=e"
DIMENSION, HEADS = 16, 2
SEEDS = 3


class RelationContract:
    """`PositionContract` inherits these tests."""

    initial: tuple[str, ...] = ()
    """Parameters on which the relation itself depends: it holds for their initial values and any other weights."""

    hidden_below = -torch.inf
    """Keys with a term below this are not visible to the query, so that their terms count as equal."""

    def test_pairs_of_one_relation_get_one_term(self):
        for terms in self.terms_by_relation().values():
            assert torch.allclose(terms, terms[:1].expand_as(terms), atol=1e-4)

    def test_there_are_weights_that_tell_different_relations_apart(self):
        terms = torch.stack([terms[0] for terms in self.terms_by_relation().values()])
        distances = torch.cdist(terms, terms, p=torch.inf).fill_diagonal_(torch.inf)
        assert distances.min() > 1e-3

    def terms_by_relation(self) -> dict:
        """For each relation in `TEXTS`, the terms of its pairs; each term holds the values for all random weights."""
        positions = [self.with_random_weights(seed) for seed in range(SEEDS)]
        found = defaultdict(list)
        for text in TEXTS:
            terms = torch.cat([self.terms(position, text) for position in positions], dim=-1)
            for j in range(len(text)):
                for i in range(j + 1):
                    found[positions[0].relation(text, j, i)].append(terms[j, i])
        return {relation: torch.stack(terms) for relation, terms in found.items()}

    def with_random_weights(self, seed: int) -> Position:
        torch.manual_seed(seed)
        position = self.make(DIMENSION, HEADS).eval()
        for name, parameter in position.named_parameters():
            if name not in self.initial:
                torch.nn.init.normal_(parameter)
        with torch.no_grad():
            for name, parameter in position.named_parameters():
                if name.endswith("anchor.key.weight"):
                    parameter[:, : len(ROLES) + 1] = anchor_scores()
                elif name.endswith("anchor.query.weight"):
                    parameter[:] = 1.0
        return position

    @torch.no_grad()
    def terms(self, position: Position, text: str) -> torch.Tensor:
        """Term [j, i] of each pair, a vector: the added vectors of both tokens and the logits of each head."""
        n = len(text)
        roles = torch.tensor([ROLES.find(token) + 1 for token in text])
        tokens = torch.tensor([encode(text)])
        context = Context.causal(torch.nn.functional.one_hot(roles, DIMENSION).float()[None], tokens=tokens)
        added = position.embed(tokens, context)
        added = torch.as_tensor(added).expand(1, n, DIMENSION)[0]
        direction = torch.randn(1, HEADS, 1, DIMENSION // HEADS, generator=torch.Generator().manual_seed(0))
        direction = direction / direction.norm(dim=-1, keepdim=True)
        q = direction.expand(1, HEADS, n, -1)
        turned_q, turned_k = position.rotate(q, q.flip(-1), context)
        k = q * anchor_scores()[roles][:, None]  # read by anchors that share the projections of the attention
        logits = turned_q @ turned_k.mT + position.bias(q, k, context)
        logits = logits[0].movedim(0, -1).clamp(min=self.hidden_below)
        return torch.cat([added[:, None].expand(n, n, -1), added[None].expand(n, n, -1), logits], dim=-1)


def anchor_scores() -> torch.Tensor:
    """Scores of digits and of each delimiter, so far apart that the latest delimiter is the anchor."""
    return torch.tensor([-100.0, *(100.0 * (place + 1) for place in range(len(ROLES)))])
