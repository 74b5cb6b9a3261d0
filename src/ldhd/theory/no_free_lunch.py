"""The no-free-lunch theorem of LDHD generalization (Theorem 1), by exact enumeration.

For finite X_N and Y, a subset X_N0, a loss l and a distribution D on X_N, the theorem compares two concepts c_1 and c_2
that agree on X_N0 by the sums

    S(c) = sum over f: X_N -> Y with f = c on X_N0 of E_{x ~ D} l(c(x), f(x)),

and says S(c_1) = S(c_2). It is printed for every loss, but holds exactly for those whose row sums
r(y) = sum over y' of l(y, y') do not depend on y.

Proof. Let k = |X_N \\ X_N0|. At a point x outside X_N0, f(x) takes each label in |Y|^(k-1) of the functions, so

    S(c) = |Y|^k sum over x in X_N0 of D(x) l(c(x), c(x)) + |Y|^(k-1) sum over x outside of D(x) r(c(x)).

The first part is the same for c_1 and c_2. If r is constant, so is the second. If r(y) != r(y'), take concepts that
differ at one point x outside, c_1(x) = y and c_2(x) = y': S(c_1) - S(c_2) = |Y|^(k-1) D(x) (r(y) - r(y')), and
D(x) > 0. The printed proof cites the classical theorem at this step, which has the same condition.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any

Label = Hashable
Concept = Mapping[Hashable, Label]
Loss = Callable[[Any, Any], Any]

# Terms l(c(x), f(x)) one call may add up: about two seconds of arithmetic with fractions.
LARGEST_ENUMERATION = 2**20


@dataclass(frozen=True)
class FiniteProblem:
    """X_N as `points`, X_N0 as `known`, Y as `labels`, a loss l(y, y') and the weights D(x), one for each point.

    The weights are positive, since the theorem asks for supp D = X_N, and add up to 1 exactly: give fractions.
    """

    points: tuple[Hashable, ...]
    known: frozenset[Hashable]
    labels: tuple[Label, ...]
    loss: Loss
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        _check_distinct(self.points, "points")
        _check_distinct(self.labels, "labels")
        strangers = self.known - set(self.points)
        if strangers:
            raise ValueError(f"X_N0 lies within X_N, but {next(iter(strangers))!r} is no point of X_N")
        if len(self.known) == len(self.points):
            raise ValueError(f"X_N0 is a proper subset of X_N, got all {len(self.points)} points")
        _check_weights(self.weights, len(self.points))

    @property
    def unknown(self) -> tuple[Hashable, ...]:
        """X_N without X_N0."""
        return tuple(x for x in self.points if x not in self.known)

    @cached_property
    def losses(self) -> dict[tuple[Label, Label], Fraction]:
        """l(y, y') for each pair of labels, as fractions."""
        return {(y, other): Fraction(self.loss(y, other)) for y in self.labels for other in self.labels}

    @property
    def row_sums(self) -> dict[Label, Fraction]:
        """r(y) = sum over y' of l(y, y')."""
        return {y: sum((self.losses[y, other] for other in self.labels), Fraction(0)) for y in self.labels}

    def concepts(self) -> Iterator[dict[Hashable, Label]]:
        """All functions X_N -> Y."""
        for values in product(self.labels, repeat=len(self.points)):
            yield dict(zip(self.points, values, strict=True))


@dataclass(frozen=True)
class PairwiseCheck:
    """What Theorem 1 says of every pair of concepts; `counterexample` is a pair with its two sums, None if none is."""

    pairs: int
    violations: int
    counterexample: tuple[Concept, Concept, Fraction, Fraction] | None

    @property
    def holds(self) -> bool:
        return self.violations == 0


def uniform_problem(
    points: Sequence[Hashable], known: Sequence[Hashable], labels: Sequence[Label], loss: Loss
) -> FiniteProblem:
    """The problem with the uniform distribution on X_N."""
    weights = tuple(Fraction(1, len(points)) for _ in points)
    return FiniteProblem(tuple(points), frozenset(known), tuple(labels), loss, weights)


def has_constant_row_sums(problem: FiniteProblem) -> bool:
    """The condition that Theorem 1 needs and does not state: r(y) is the same for every y.

    The 0/1 loss has it on any labels, the squared loss on any two labels, but not on {-1, 0, 1}: there r(0) = 2 and
    r(1) = 5.
    """
    return len(set(problem.row_sums.values())) == 1


def enumerated_sum(problem: FiniteProblem, concept: Concept) -> Fraction:
    """S(c), by adding up the expected loss of every f that agrees with c on X_N0."""
    rows = []  # D(x) l(c(x), f(x)) for the labels f(x) that are allowed at x
    for x, weight in zip(problem.points, problem.weights, strict=True):
        allowed = (concept[x],) if x in problem.known else problem.labels
        rows.append([weight * problem.losses[concept[x], label] for label in allowed])
    return sum((sum(terms, Fraction(0)) for terms in product(*rows)), Fraction(0))


def check_all_pairs(problem: FiniteProblem) -> PairwiseCheck:
    """Theorem 1 for every pair of different concepts that agree on X_N0, each sum by enumeration."""
    terms = len(problem.labels) ** (len(problem.points) + len(problem.unknown)) * len(problem.points)
    if terms > LARGEST_ENUMERATION:
        raise ValueError(f"the enumeration has {terms} terms, more than {LARGEST_ENUMERATION}; take fewer points")
    agreeing: dict[tuple[Label, ...], list[tuple[Concept, Fraction]]] = {}
    for concept in problem.concepts():
        on_known = tuple(concept[x] for x in problem.points if x in problem.known)
        agreeing.setdefault(on_known, []).append((concept, enumerated_sum(problem, concept)))
    pairs = [pair for group in agreeing.values() for pair in combinations(group, 2)]
    violations = [(one, other, s, t) for (one, s), (other, t) in pairs if s != t]
    return PairwiseCheck(len(pairs), len(violations), violations[0] if violations else None)


def _check_distinct(items: tuple[Any, ...], what: str) -> None:
    if not items:
        raise ValueError(f"there are no {what}; give at least one")
    for position, item in enumerate(items):
        if item in items[:position]:
            raise ValueError(f"the {what} differ from each other, but {item!r} is given twice")


def _check_weights(weights: tuple[Any, ...], count: int) -> None:
    if len(weights) != count:
        raise ValueError(f"there is one weight a point, got {len(weights)} for {count} points")
    if not min(weights) > 0:
        raise ValueError(f"weights are positive, since the distribution has all of X_N as support, got {min(weights)}")
    if sum(map(Fraction, weights)) != 1:
        raise ValueError(f"weights add up to 1, got {float(sum(weights))!r}; give fractions where floats round")
