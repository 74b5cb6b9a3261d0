"""The stored study: it is what its command makes, its numbers follow from the stored functions, its claims hold."""

from pathlib import Path

import pytest

from ldhd.bias.cells import Store, complete, make_specs, run_cell
from ldhd.bias.expression import evaluate_on_cube
from ldhd.bias.measure import measure, root_mean_square
from ldhd.bias.problem import make_problem
from ldhd.bias.summary import agreements, closest, distance, fitted, interpolators, verdict

ROOT = Path(__file__).parents[2]
COMMON = {"seeds": (0, 1, 2, 3, 4), "scale": None, "where": None, "samples": None, "priming": 0}


@pytest.fixture(scope="module")
def store():
    return Store(ROOT / "results/bias")


@pytest.fixture(scope="module")
def specs():
    made = make_specs(
        "all", "all", dimensions=None, widths=None, settings={}, bases=None, projection=None, common=COMMON
    )
    return {spec.key: spec for spec in map(complete, made)}


def cell(store, concept, model):
    return next(row for row in store.rows.values() if (row["concept"], row["model"]) == (concept, model))


def to_function(store, concept, model, expression):
    """The distance of each seed's function from an expression."""
    problem = make_problem(concept)
    learned = store.learned[cell(store, concept, model)["key"]].astype(float)
    wanted = evaluate_on_cube(expression, problem.dimension)
    return [root_mean_square((values - wanted)[problem.unseen]) / problem.label_size for values in learned]


def test_is_what_the_command_makes(store, specs):
    assert list(store.rows) == list(specs)
    measured = [row for row in store.rows.values() if "runs" in row]
    assert all(len(row["runs"]) == 5 for row in measured)
    assert (len(store.rows), len(measured)) == (143, 114)
    fitting = [fitted(row) for row in measured]
    assert (fitting.count(0), sum(0 < seeds < 5 for seeds in fitting)) == (8, 17)


@pytest.mark.parametrize("model", ["rf", "plaa-rpe", "plaa-ape"])
def test_runs_again_with_the_same_result(store, specs, model):
    stored = cell(store, "rpe-unseen", model)
    row, _ = run_cell(specs[stored["key"]])
    assert row["runs"][0]["distances"] == pytest.approx(stored["runs"][0]["distances"], abs=1e-3)


@pytest.mark.parametrize("model", ["mlp", "transformer-rpe", "transformer-absolute"])
def test_numbers_follow_from_the_stored_functions(store, specs, model):
    row = cell(store, "rpe-unseen", model)
    problem = make_problem("rpe-unseen")
    compared = specs[row["key"]].references(problem)
    for values, run in zip(store.learned[row["key"]].astype(float), row["runs"], strict=True):
        found = measure(problem, values, compared)
        assert found.leakage == pytest.approx(run["leakage"], abs=2e-3)
        assert [found.distances["rpe"], found.distances["fourier"]] == pytest.approx(
            [run["distances"]["rpe"], run["distances"]["fourier"]], abs=2e-3
        )


def test_what_the_page_says_of_rpe(store):
    """Softmax Transformers with RPE are the interpolator of Theorem 4 where it exists, not the Fourier one."""
    for concept in DIAGONAL:
        for model in ("transformer-rpe", "transformer-rpe-2"):
            row = cell(store, concept, model)
            assert verdict(row) == "rpe"
            assert distance(row, "fourier").low > 3 * distance(row, "rpe").high
        row = cell(store, concept, "linear-rpe")
        assert (verdict(row), closest(row)) == ("none of them", ["rpe"])
    assert max(to_function(store, "place-unseen", "transformer-rpe", FARTHEST)) < 0.02


def test_no_set_predicts_transformers_elsewhere(store):
    """Nor does the Fourier interpolator describe any model."""
    rows = [row for row in store.rows.values() if row["model"] in TRANSFORMERS and row["concept"] not in DIAGONAL]
    nearest = [value.value for row in rows for value in interpolators(row).values()]
    assert min(nearest) == pytest.approx(0.23, abs=0.005)
    assert {one.like.successes for one in agreements(list(store.rows.values())) if one.reference == "fourier"} == {0}


TRANSFORMERS = {
    "transformer-rpe": (0.03, 4),
    "transformer-absolute": (0.03, 5),
    "transformer-rpe-square": (0.07, 2),
    "transformer-rpe-2": (0.03, 3),
    "linear-rpe": (0.24, 5),
}
"""How far each is from the minimum on `abbe-2`, and how many of its seeds are right about the majority on `abbe-4`."""

DIAGONAL = ("rpe-seen", "rpe-unseen", "ape-seen")
"""The concepts in the span of RPE."""

FARTHEST = "place(1)*max(0, min(1, 6 - n)) + back(4)*max(0, min(1, n - 5))"
"""x_1 up to n = N0 = 5, beyond that what is as far from the end as x_1 was at most."""


@pytest.mark.parametrize("model", TRANSFORMERS)
def test_what_the_page_says_of_abbe(store, model):
    """f_2 = x1 x2 becomes the minimum, not x1 + x2 - 1, which leaves the range of the labels."""
    farthest, right = TRANSFORMERS[model]
    assert max(to_function(store, "abbe-2", model, "min(x1, x2)")) < farthest
    assert min(to_function(store, "abbe-2", model, "x1 + x2 - 1")) > 1.7
    assert sum(run["distances"]["concept"] < 0.1 for run in cell(store, "abbe-4", model)["runs"]) == right
