"""Two processes train the model that one process trains."""

import json
import os
import subprocess
import sys

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file

from ldhd.process import LostPeerError
from ldhd.train import parallel

OPTIONS = ["--model", "small", "--steps", "50", "--train-scales", "1-3", "--test-scales", "1-4", "--set"]
OPTIONS += ["train.samples=200", "--set", "train.evaluate_every=1"]
OPTIONS += ["--set", "test_instances=20", "--set", "model.dimension=16", "--set", "train.checkpoint_every=20"]


def ldhd_run(out, processes, *more, batch=15):
    launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes > 1 else []
    command = [sys.executable, *launch, "-m", "ldhd", "run", "copy", "--position", "rpe-square", "--out", str(out)]
    network = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*command, *OPTIONS, "--set", f"train.batch_size={batch}", *more],
        env=os.environ | network,
        capture_output=True,
        text=True,
        timeout=300,
    )


def losses(out):
    (metrics,) = out.glob("*/metrics.jsonl")
    return torch.tensor([json.loads(line)["loss"] for line in metrics.read_text().splitlines()])


def test_two_processes_do_what_one_does(tmp_path):
    for name, processes in (("one", 1), ("two", 2)):
        done = ldhd_run(tmp_path / name, processes)
        assert done.returncode == 0, done.stderr
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert len(one) == len(two) == 50
    assert (one - two).abs().max() < 1e-5
    assert one[0] > one[-1] + 0.1
    weights = [load_file(next((tmp_path / name).glob("*/model.safetensors"))) for name in ("one", "two")]
    assert all(torch.allclose(weights[0][key], weights[1][key], atol=1e-4) for key in weights[0])
    (record,) = (tmp_path / "two").glob("*/record.json")
    assert json.loads(record.read_text())["command"].startswith("torchrun --nproc-per-node=2 -m ldhd run copy")
    again = ldhd_run(tmp_path / "two", 2, "--json")
    assert again.returncode == 0, again.stderr
    assert len(json.loads(again.stdout)["runs"]) == 1


def test_wrong_input_is_told_by_one_process(tmp_path):
    done = ldhd_run(tmp_path, 2, batch=1)
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if line.startswith("ldhd: ")]
    # a process that is ended because the other one ended first may not come to say it
    assert told in ([], ["ldhd: error: batch_size 1 is less than the 2 processes that share it"])
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("said", "error"),
    [("[gloo/pair.cc:5] Connection closed by peer [::1]:9", LostPeerError), ("a bug", RuntimeError)],
)
def test_a_lost_process_is_told_in_one_line(monkeypatch, said, error):
    for name in ("init_process_group", "destroy_process_group"):
        monkeypatch.setattr(dist, name, lambda *arguments, **options: None)
    with pytest.raises(error) as told, parallel.connected("cpu"):
        raise RuntimeError(said)
    if error is LostPeerError:
        assert "(Connection closed by peer [::1]:9); repeat the command" in str(told.value)
    assert told.type is error
