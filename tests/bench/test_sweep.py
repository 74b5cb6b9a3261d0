"""The benchmark of sweeps does what it says it measures."""

from ldhd.bench.sweep import pretend_finished, sweep_cases
from ldhd.experiments import make_config
from ldhd.sweep import run_sweep


def test_cases_at_a_small_size():
    two, overhead, skipping = sweep_cases(runs=2, steps=2, skipped=3, repeats=1)
    assert (two.against, two.shape) == ("one worker", "2 runs of 2 steps")
    assert [case.against for case in (overhead, skipping)] == ["a limit of 1 s", "a limit of 2 s"]
    assert all(case.spread[0] <= case.ratio <= case.spread[1] for case in (two, overhead, skipping))


def test_runs_that_pretend_to_be_finished_are_skipped(tmp_path):
    configs = [make_config("copy", "rpe", seed=seed) for seed in range(3)]
    pretend_finished(configs, tmp_path / "out")

    def never(jobs, on_progress, stop):
        raise AssertionError("a job was started")

    assert [record.seed for record in run_sweep(configs, tmp_path / "out", never).records] == [0, 1, 2]
