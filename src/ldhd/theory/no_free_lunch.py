"""The no-free-lunch theorem of LDHD generalization (Theorem 1), by exact enumeration.

For finite X_N and Y, a subset X_N0, a loss l and a distribution D on X_N, the theorem compares two concepts c_1 and c_2
that agree on X_N0 by the sums

    S(c) = sum over f: X_N -> Y with f = c on X_N0 of E_{x ~ D} l(c(x), f(x)),

and says S(c_1) = S(c_2). It is printed for every loss, but holds exactly for those whose row sums
r(y) = sum over y' of l(y, y') do not depend on y: the 0/1 loss on any labels, the squared loss on any two labels, but
not on {-1, 0, 1}, where r(0) = 2 and r(1) = 5.

Proof. Let k = |X_N \\ X_N0|. At a point x outside X_N0, f(x) takes each label in |Y|^(k-1) of the functions, so

    S(c) = |Y|^k sum over x in X_N0 of D(x) l(c(x), c(x)) + |Y|^(k-1) sum over x outside of D(x) r(c(x)).

The first part is the same for c_1 and c_2. If r is constant, so is the second. If r(y) != r(y'), take concepts that
differ at one point x outside, c_1(x) = y and c_2(x) = y': S(c_1) - S(c_2) = |Y|^(k-1) D(x) (r(y) - r(y')), and
D(x) > 0. The printed proof cites the classical theorem at this step, which has the same condition.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Label = Hashable
Concept = Mapping[Hashable, Label]
ComparedPair = tuple[Concept, Concept, Fraction, Fraction]


@dataclass(frozen=True)
class FiniteProblem:
    """D(x) for each point x of X_N as `weights`, X_N0 as `known`, Y as `labels`, and a loss l(y, y').

    The weights are positive, since the theorem asks for supp D = X_N, and add up to 1; fractions keep sums exact.
    """

    weights: Mapping[Hashable, Fraction]
    known: frozenset[Hashable]
    labels: tuple[Label, ...]
    loss: Callable[[Any, Any], int]

    @property
    def row_sums(self) -> dict[Label, int]:
        """r(y) = sum over y' of l(y, y')."""
        return {y: sum(self.loss(y, other) for other in self.labels) for y in self.labels}

    def summed_loss(self, concept: Concept) -> Fraction:
        """S(c), by adding up the expected loss of every f that agrees with c on X_N0."""
        rows = []  # D(x) l(c(x), f(x)) for the labels f(x) that are allowed at x
        for x, weight in self.weights.items():
            allowed = (concept[x],) if x in self.known else self.labels
            rows.append([weight * self.loss(concept[x], label) for label in allowed])
        return sum((sum(terms, Fraction(0)) for terms in product(*rows)), Fraction(0))


def compare_all_pairs(problem: FiniteProblem) -> list[ComparedPair]:
    """Every pair of different concepts that agree on X_N0, with S of both, each by enumeration."""
    agreeing: dict[tuple[Label, ...], list[tuple[Concept, Fraction]]] = {}
    for values in product(problem.labels, repeat=len(problem.weights)):
        concept = dict(zip(problem.weights, values, strict=True))
        on_known = tuple(concept[x] for x in problem.weights if x in problem.known)
        agreeing.setdefault(on_known, []).append((concept, problem.summed_loss(concept)))
    pairs = (pair for group in agreeing.values() for pair in combinations(group, 2))
    return [(one, other, one_sum, other_sum) for (one, one_sum), (other, other_sum) in pairs]
