"""The protocol of the comparison: as many trials for all, and a choice that sees training scales alone."""

from dataclasses import replace

import pytest

from ldhd.evaluate import ScaleResult
from ldhd.experiments import protocol
from ldhd.experiments.entrants import ENTRANTS, TRIALS
from ldhd.experiments.folder import Record
from ldhd.experiments.parts import outline
from ldhd.experiments.presets import PRESETS
from ldhd.experiments.protocol import Trial, choose, final_config, judge, next_runs, trial_config
from ldhd.positions import POSITIONS


@pytest.mark.parametrize("entrant", ENTRANTS)
def test_each_entrant_has_as_many_trials_and_each_can_be_built(entrant):
    configs = [trial_config("copy", entrant, number) for number in range(TRIALS)]
    assert len({config.hash for config in configs}) == TRIALS >= 8
    for config in configs:
        assert config.seed >= 1000
        assert config.test_scales == config.train_scales
        assert config.train.samples == "endless"
        outline(config.model_options, config.position, config.position_options)


def test_the_comparison_is_wide():
    assert len(ENTRANTS) >= 20
    named = {entrant.position for entrant in ENTRANTS.values()}
    missing = POSITIONS.keys() - named
    assert missing == {"rpe-absolute", "randomized-alibi", "randomized-fire"}


def record_of(config, exact, seed=None):
    results = [
        ScaleResult(scale=s, n=10, exact=exact, low=0.0, high=1.0, per_token=exact, per_position=[exact])
        for s in config.test_scales
    ]
    return Record(
        hash=config.hash,
        task=config.task,
        position=config.position,
        model=config.model,
        seed=config.seed if seed is None else seed,
        train_scales=list(config.train_scales),
        fitted=exact >= 0.99,
        results=results,
        steps=config.train.steps,
        seconds=1.0,
        threads=1,
        version="0",
        commit=None,
        command="",
    )


METRICS = [{"cross_entropy": value} for value in (9.0, 0.3, 0.2, 0.1)]


def test_a_trial_is_judged_by_its_worst_training_scale_and_its_last_losses():
    found = judge("copy", "rope", 3, record_of(trial_config("copy", "rope", 3), 0.5), METRICS)
    assert (found.worst, found.loss) == (0.5, pytest.approx(0.2))


def test_a_run_that_saw_test_scales_or_a_reported_seed_is_no_trial():
    seen = final_config("copy", "rope", 3, seed=1000, budget=1)
    with pytest.raises(ValueError, match=r"it was tested beyond training at \[6, 7, 8, 9, 10, 20, 50, 100\]"):
        judge("copy", "rope", 3, record_of(seen, 0.5), METRICS)
    with pytest.raises(ValueError, match="is no trial: its seed is 0"):
        judge("copy", "rope", 3, record_of(trial_config("copy", "rope", 3), 0.5, seed=0), METRICS)


def test_the_best_trial_is_chosen_once_all_are_finished():
    found = [Trial("copy", "rope", number, 0.9, 1.0 + number, "") for number in range(TRIALS)]
    assert choose(found).number == 0
    found[3] = replace(found[3], worst=0.95)
    found[5] = replace(found[5], worst=0.95, loss=0.5)
    assert choose(found).number == 5
    assert choose(found[1:]) is None


def test_a_seed_climbs_until_it_fits():
    trial = Trial("copy", "rope", 2, 1.0, 0.1, "")

    def waiting(records, curves=()):
        return [(config.seed, config.train.steps) for config in next_runs([trial], [0, 1], records, None, curves)]

    assert waiting({}) == [(0, 1000), (1, 1000)]
    records = {}
    for seed, budget, exact in ((0, 1, 1.0), (1, 1, 0.5)):
        config = final_config("copy", "rope", 2, seed, budget)
        records[config.hash] = record_of(config, exact)
    assert waiting(records) == [(1, 2000)]
    assert waiting(records, ["rope"]) == [(0, 2000), (1, 2000)]
    for budget in protocol.BUDGETS[1:]:
        config = final_config("copy", "rope", 2, 1, budget)
        records[config.hash] = record_of(config, 0.5)
    assert waiting(records) == []


def test_reported_runs_have_the_settings_of_their_trial():
    trial, final = trial_config("division", "abacus", 1), final_config("division", "abacus", 1, seed=2, budget=4)
    assert (trial.train.steps, final.train.steps) == (2000, 8000)
    same = {"seed", "test_scales", "train"}
    assert trial.model_dump(exclude=same) == final.model_dump(exclude=same)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="unknown entrant 'rop'"):
        protocol.check_names(["copy"], ["rop"])
    with pytest.raises(ValueError, match="unknown task of the protocol 'parity-direct'"):
        protocol.check_names(["parity-direct"], [])


def test_one_recipe_has_one_setting_for_all_tasks_and_fresh_seeds():
    configs = PRESETS["one-recipe"].configs("full")
    assert {config.seed for config in configs} == set(range(100, 110))
    assert len({config.task for config in configs}) == 6
    assert len({config.model_dump_json(exclude={"task", "seed"}) for config in configs}) == 1
