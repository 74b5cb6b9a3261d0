"""Groups of runs that differ in the seed alone."""

import pytest

from ldhd.experiments import make_config
from ldhd.experiments.groups import by_setting, differences, group_runs
from report.samples import grouped, record_of
from report.samples import plain_record as record


@pytest.mark.parametrize(
    ("values", "fitted", "verdict"),
    [
        ([1.0, 0.95, 0.2], [True] * 3, "generalises"),
        ([0.5, 0.4, 1.0], [True] * 3, "fails"),
        ([0.7, 0.8, 0.6], [True] * 3, "mixed"),
        ([0.0, 0.0, 0.0], [False] * 3, "does not fit"),
        ([1.0, 1.0, 1.0, 1.0], [True, False, False, False], "does not fit"),
        ([1.0, 1.0, 1.0, 1.0], [True, True, False, False], "too few seeds"),
        ([1.0, 1.0], [True] * 2, "too few seeds"),
        ([1.0, 1.0, 1.0, 0.0, 0.0], [True, True, True, False, False], "generalises"),
    ],
)
def test_measured_verdicts(values, fitted, verdict):
    records = [
        record(seed=seed, exact=(1.0, v), fitted=f) for seed, (v, f) in enumerate(zip(values, fitted, strict=True))
    ]
    (group,) = grouped(records)
    assert group.verdict() == verdict


def test_groups_keep_models_apart_and_failures_in():
    records = [record(), record(seed=1, fitted=False), record(model="gpt2"), record("rope")]
    assert [(group.position, group.model, len(group.records), group.fitted) for group in grouped(records)] == [
        ("rpe", "small", 2, 1),
        ("rpe", "gpt2", 1, 1),
        ("rope", "small", 1, 1),
    ]


def test_groups_keep_configs_apart_and_say_what_differs():
    """Options tell groups of one embedding apart; a model's name stands for its options; extended runs are others."""
    configs = [
        make_config("copy", "rpe", seed=seed, model=model, settings={"train.learning_rate": rate})
        for model in ("small", "small-2")
        for rate in (0.001, 0.002)
        for seed in (0, 1)
    ]
    configs.append(configs[0].model_copy(update={"extended_from": "0" * 12}))
    records = [record(seed=c.seed, model=c.model).model_copy(update={"hash": c.hash}) for c in configs]
    found = group_runs(records, {config.hash: config for config in configs})
    assert [(group.label, len(group.records)) for group in found] == [
        ("rpe (small, train.learning_rate=0.001, extended=False)", 2),
        ("rpe (small, train.learning_rate=0.002)", 2),
        ("rpe (small-2, train.learning_rate=0.001)", 2),
        ("rpe (small-2, train.learning_rate=0.002)", 2),
        ("rpe (small, train.learning_rate=0.001, extended=True)", 1),
    ]
    assert differences([configs[0], configs[4]]) == [("model=small",), ("model=small-2",)]


def test_success_needs_a_fit():
    """A seed succeeds if it fits and is right on 90 % at the largest scale."""
    outcomes = [(1.0, True), (0.9, True), (0.8, True), (1.0, False)]
    (group,) = grouped([record(seed=k, exact=(1.0, v), fitted=f) for k, (v, f) in enumerate(outcomes)])
    assert (group.success().successes, group.success().n) == (2, 4)


def test_options_of_one_named_model_tell_groups_apart():
    configs = [make_config("copy", "rpe", model="small", settings={"model.heads": heads}) for heads in (2, 4)]
    found = group_runs([record_of(config) for config in configs], {config.hash: config for config in configs})
    assert [group.label for group in found] == ["rpe (model.heads=2)", "rpe (model.heads=4)"]


def test_a_seed_on_two_devices_is_not_two_seeds():
    config = make_config("copy", "rpe")
    other = config.model_copy(update={"device": "cuda"})
    seed = config.model_copy(update={"seed": 1})
    assert by_setting([config, other, seed]) == [[config, seed], [other]]


def test_extended_runs_are_a_group_whatever_they_were_extended_from():
    config = make_config("copy", "rpe")
    extended = [config.model_copy(update={"seed": seed, "extended_from": str(seed) * 12}) for seed in (0, 1)]
    assert by_setting([config, *extended]) == [[config], extended]
