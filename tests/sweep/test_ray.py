"""Sweeps on a real Ray cluster of two nodes on this machine, listening on 127.0.0.1 alone."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from contracts.executor import ExecutorContract
from contracts.tiny import TINY
from ldhd.cli import main
from ldhd.experiments import make_config, run
from ldhd.process import Interrupted
from ldhd.sweep import on_ray, run_sweep
from ldhd.train import checkpoint

ray = pytest.importorskip("ray", reason="the ray extra is not installed")
pytestmark = pytest.mark.slow

SETTINGS = TINY | {"train.checkpoint_every": 20, "train.evaluate_every": 20}


# a dead node is noticed after one and a half seconds, not minutes
WATCHFUL = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}
HEAD = {"num_cpus": 1, "include_dashboard": False, "_system_config": WATCHFUL}


def configs(count, steps):
    scales = {"test_scales": (1, 2), "train_scales": (1, 2)}
    return [make_config("copy", "rpe-square", steps=steps, seed=i, settings=SETTINGS, **scales) for i in range(count)]


@contextlib.contextmanager
def running_cluster():
    """A head with one processor, on which the sweep runs, and room for more nodes."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args=HEAD)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def cluster():
    with running_cluster() as made:
        yield made


class TestOnRay(ExecutorContract):
    @pytest.fixture(scope="class")
    @classmethod
    def executor(cls):
        """Connected once, so that workers import torch once."""
        tests = str(Path(__file__).parents[1])
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", tests, prepend=os.pathsep)  # for workers to import contracts.dying
            with running_cluster() as made:
                ray.init(made.address, log_to_driver=False)
                yield on_ray(made.address)


def test_a_node_that_dies_takes_no_run_along(cluster, tmp_path):
    doomed = cluster.add_node(num_cpus=1)
    wanted = configs(4, steps=400)
    seen, killed = set(), threading.Event()

    def kill_when_both_work():
        deadline = time.monotonic() + 120
        while len(seen) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        cluster.remove_node(doomed, allow_graceful=False)
        killed.set()

    completed = []
    killer = threading.Thread(target=kill_when_both_work)
    killer.start()
    result = run_sweep(
        wanted,
        tmp_path,
        on_ray(cluster.address),
        on_progress=lambda progress: seen.add(progress.run) if progress.done > 20 else None,
        on_completed=completed.append,
    )
    killer.join(timeout=120)
    assert killed.is_set()
    assert len(seen) >= 2
    assert result.failures == []
    assert [record.hash for record in result.records] == [config.hash for config in wanted]
    assert sorted(record.hash for record in completed) == sorted(config.hash for config in wanted)
    here = [run(config, tmp_path / "here") for config in wanted[:2]]
    assert [record.results for record in here] == [record.results for record in result.records[:2]]
    for config in wanted[:2]:
        for name in ("config.json", "metrics.jsonl", "model.safetensors"):
            there = (tmp_path / config.hash / name).read_bytes()
            assert there == (tmp_path / "here" / config.hash / name).read_bytes(), name
    assert not list(tmp_path.rglob("lease"))


def test_what_a_worker_sent_before_it_ended_is_there_and_of_checkpoints_two_are_kept(cluster, tmp_path, monkeypatch):
    (config,) = configs(1, steps=200)
    monkeypatch.setattr("ldhd.sweep.ray.REPORT_SECONDS", 60)  # here, not on the worker: nobody looks until it has ended
    run_sweep([config], tmp_path, on_ray(cluster.address))
    alone = tmp_path / "alone"
    run(config, alone)
    kept, local = (checkpoint.saved(out / config.hash / "checkpoints") for out in (tmp_path, alone))
    assert [path.name for path in kept] == [path.name for path in local]
    assert (tmp_path / config.hash / "config.json").exists()


def test_a_run_that_no_node_has_room_for_is_told_and_can_be_stopped(cluster, tmp_path):
    cluster.add_node(num_cpus=1)  # two processors, but not on one machine
    timer = threading.Timer(5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with (
            pytest.warns(UserWarning, match="waiting for CPU 2: no machine"),
            pytest.raises(Interrupted, match="0 of 1 runs"),
        ):
            run_sweep(configs(1, steps=2), tmp_path, on_ray(cluster.address, cpus=2))
    finally:
        timer.cancel()


def test_no_cluster_at_the_address(tmp_path, capsys):
    (tmp_path / "s.toml").write_text('tasks = ["copy"]\npositions = ["rpe"]\nsteps = 1\n')
    command = ["sweep", str(tmp_path / "s.toml"), "--on", "ray", "--address", "127.0.0.1:1", "--out", str(tmp_path)]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("ldhd: error: no Ray cluster at 127.0.0.1:1")
