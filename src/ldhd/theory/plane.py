"""Figure 1: linear classifiers in the plane, tested where they were trained, beside it, and in one dimension more."""

from dataclasses import dataclass

import numpy as np

from ldhd.theory.linear import LinearClassifier, LinearLearner, Vector, fixed_direction_learner, free_direction_learner

CONCEPT = LinearClassifier(np.array([1.0, 1.5]), 0.3)


@dataclass(frozen=True, eq=False)
class Setting:
    """Samples of a training and a test distribution, labelled by `CONCEPT`, and what each learner makes of them."""

    title: str
    train: Vector
    test: Vector
    learned: dict[str, LinearClassifier]

    def test_error(self, classifier: LinearClassifier) -> float:
        """Share of test points whose label is wrong."""
        return float(np.mean(classifier(self.test) != CONCEPT(self.test)))


def settings(count: int = 200, tests: int = 2000, seed: int = 0) -> list[Setting]:
    """The three kinds of generalization, each learned without knowing the direction w_0; LDHD also by one who does.

    The learners minimise the squared error, and the shortest solution is taken where several do.
    """
    stream = np.random.default_rng(seed)
    everywhere, test = stream.normal(size=(count, 2)), stream.normal(size=(tests, 2))
    shifted = stream.normal(size=(tests, 2)) * 0.8 + np.array([1.0, -1.0])
    line = everywhere * np.array([1.0, 0.0])
    free: dict[str, LinearLearner] = {"learned": free_direction_learner}
    knowing = {**free, "with $w_0$ known": fixed_direction_learner(CONCEPT.weights)}
    return [
        _setting("in-distribution", everywhere, test, free),
        _setting("out-of-distribution", everywhere, shifted, free),
        _setting("low to high dimension", line, test, knowing),
    ]


def _setting(title: str, train: Vector, test: Vector, learners: dict[str, LinearLearner]) -> Setting:
    return Setting(title, train, test, {name: learn(train, CONCEPT(train)) for name, learn in learners.items()})
