"""The contract of executors: the same jobs in, the same outcomes out, wherever they are done."""

import json

import pytest

from contracts.tiny import TINY
from ldhd.experiments import RunFolder, make_config, run
from ldhd.experiments.runner import Job
from ldhd.lease import Lease, holding
from ldhd.sweep import run_sweep
from ldhd.train import checkpoint

SETTINGS = TINY | {"train.checkpoint_every": 2, "train.evaluate_every": 2}
KEPT = ("config.json", "metrics.jsonl", "model.safetensors", "trace.json")


def config_of(seed=0, steps=4, position="rpe-square", **settings):
    scales = {"test_scales": (1, 2), "train_scales": (1, 2)}
    return make_config("copy", position, steps=steps, seed=seed, settings={**SETTINGS, **settings}, **scales)


def outcomes_of(executor, configs, out, on_progress=lambda progress: None, stop=lambda: False):
    """Outcomes by the hash of the run."""
    out.mkdir(exist_ok=True)
    jobs = (config and Job(config, out, 1, "ldhd run") for config in configs)
    return {outcome.job.config.hash: outcome for outcome in executor(jobs, on_progress, stop)}


def in_the_way(out, config):
    """Let a run fail: a file stands where its checkpoints belong."""
    path = RunFolder(out / config.hash).checkpoints
    path.parent.mkdir(parents=True)
    path.write_text("not a folder")
    return path


class ExecutorContract:
    """Inherit this and give a fixture `executor`; `survives` says whether workers may die without the test."""

    survives = True

    def test_jobs_end_with_what_a_single_run_gives(self, executor, tmp_path):
        configs, seen = [config_of(seed) for seed in range(3)], []
        outcomes = outcomes_of(executor, [configs[0], None, *configs[1:]], tmp_path / "out", seen.append)
        assert set(outcomes) == {config.hash for config in configs}
        for config in configs:
            alone = run(config, tmp_path / "alone", command="ldhd run")
            outcome, folder = outcomes[config.hash], RunFolder(tmp_path / "out" / config.hash)
            assert outcome.error is None
            assert outcome.record.model_dump(exclude={"seconds"}) == alone.model_dump(exclude={"seconds"})
            assert folder.finished(config) == outcome.record
            assert {path.name for path in folder.path.iterdir()} == {*KEPT, "checkpoints", "record.json", "start.json"}
            for name in KEPT:
                assert (folder.path / name).read_bytes() == (tmp_path / "alone" / config.hash / name).read_bytes()
        assert {progress.run for progress in seen} <= set(outcomes)
        assert seen

    def test_a_failure_is_an_outcome_and_stops_no_other(self, executor, tmp_path):
        bad, good = config_of(0), config_of(1)
        in_the_way(tmp_path, bad)
        outcomes = outcomes_of(executor, [bad, good], tmp_path)
        assert outcomes[bad.hash].record is None
        assert "checkpoints" in outcomes[bad.hash].error
        assert outcomes[good.hash].record.seed == 1
        assert Lease(tmp_path / bad.hash).is_free()

    def test_a_failed_run_is_tried_again_and_leaves_no_trace_of_it_in_the_end(self, executor, tmp_path):
        config, completed = config_of(), []
        obstacle = in_the_way(tmp_path, config)
        result = run_sweep([config], tmp_path, executor, retries=1, on_completed=completed.append)
        assert (result.records, [failure.attempts for failure in result.failures]) == ([], [2])
        assert completed == result.failures
        failure = RunFolder(tmp_path / config.hash).failure_path
        assert json.loads(failure.read_text())["attempts"] == 2
        obstacle.unlink()
        result = run_sweep([config], tmp_path, executor, retries=0)
        assert (len(result.records), result.failures) == (1, [])
        assert not failure.exists()

    def test_a_stopped_job_has_no_answer_and_can_be_resumed(self, executor, tmp_path):
        long, seen, taken = config_of(steps=100_000, **{"train.checkpoint_every": 100_000}), [], []

        def jobs():
            for config in (long, *(config_of(seed) for seed in range(1, 30))):
                taken.append(config)
                yield config

        def stop():
            return any(progress.stage == "training" for progress in seen)

        outcomes = outcomes_of(executor, jobs(), tmp_path, seen.append, stop)
        assert (outcomes[long.hash].record, outcomes[long.hash].error) == (None, None)
        assert len(taken) < 30
        assert len(checkpoint.saved(RunFolder(tmp_path / long.hash).checkpoints)) == 1
        assert Lease(tmp_path / long.hash).is_free()

    def test_no_job_is_taken_after_the_request_to_stop(self, executor, tmp_path):
        def jobs():
            raise AssertionError("a job was taken")
            yield

        assert outcomes_of(executor, jobs(), tmp_path, stop=lambda: True) == {}

    def test_a_run_of_another_process_is_left_to_it(self, executor, tmp_path):
        held, free = config_of(0), config_of(1)
        with holding(tmp_path / held.hash):
            outcomes = outcomes_of(executor, [held, free], tmp_path)
        assert (outcomes[held.hash].record, outcomes[held.hash].error) == (None, None)
        assert outcomes[free.hash].record.seed == 1
        assert [path.name for path in (tmp_path / held.hash).iterdir()] == []

    def test_a_run_that_another_process_has_finished_is_read(self, executor, tmp_path):
        record = run(config_of(), tmp_path)
        assert outcomes_of(executor, [config_of()], tmp_path)[record.hash].record == record

    def test_a_worker_that_dies_is_a_failure_of_its_run_alone(self, executor, tmp_path):
        if not self.survives:
            pytest.skip("its worker is this process")
        dying = config_of(position="contracts.dying:Dying")
        outcomes = outcomes_of(executor, [dying, config_of(1)], tmp_path)
        assert outcomes[dying.hash].record is None
        assert "ended by signal 9" in outcomes[dying.hash].error or "died" in outcomes[dying.hash].error
        assert outcomes[config_of(1).hash].record.seed == 1
        assert Lease(tmp_path / dying.hash).is_free()
