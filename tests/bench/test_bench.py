"""Benchmarks measure ratios; what they compare must agree."""

import json

import numpy as np
import pytest
import torch

from contracts.formulas import random_anchor, rpe_square_by_loops
from ldhd.bench import BENCHMARKS, Case
from ldhd.bench.attention import EMBEDDINGS, LONG_EMBEDDINGS, attention_cases, dense_formula, length_cases
from ldhd.bench.decode import decode_cases, far_cases
from ldhd.bench.hugging_face import same_gpt2
from ldhd.bench.memory import peak_memory
from ldhd.bench.peers import peers_cases
from ldhd.bench.ratio import compare, exponent, machine
from ldhd.bench.seeds import SEEDS, seeds_cases
from ldhd.bench.start import start_cases
from ldhd.bench.step import HUGGING_FACE, step_cases
from ldhd.bench.wht import butterfly, walsh_hadamard_cases
from ldhd.boolean import fourier
from ldhd.cli import main
from ldhd.experiments.beyond import PEERS
from ldhd.model import MODELS, ModelConfig
from ldhd.report.bench import show_benchmarks


def test_plain_butterfly_is_the_transform():
    values = np.random.default_rng(0).normal(size=2**7)
    assert butterfly(values) == pytest.approx(fourier(values), abs=1e-12)


def test_ratio_is_theirs_over_ours_and_both_are_warmed_up():
    calls = []
    case = compare("c", "s", "other", lambda: calls.append("ours"), lambda: calls.append("theirs"), repeats=5)
    assert calls[:2] == ["ours", "theirs"]
    assert calls.count("ours") == calls.count("theirs") == 6
    assert case.spread[0] <= case.ratio <= case.spread[1]


def test_machine_is_told():
    assert {"processor", "cores", "numpy", "python"} <= set(machine())


def test_wht_against_boofun_at_a_small_size():
    pytest.importorskip("boofun", reason="the bench extra is not installed")
    assert {case.against.split()[0] for case in walsh_hadamard_cases(variables=6)} == {"boofun", "plain"}


def test_attention_at_small_sizes():
    cases = attention_cases({6: 2, 9: 1}, rounds=3)
    assert {case.measure for case in cases} == {"cost", "memory", "growth", "exponent", "speed"}
    assert all(case.spread[0] <= case.ratio <= case.spread[1] for case in cases)
    base = [case for case in cases if case.case.startswith("rpe, ") and case.measure in ("cost", "memory")]
    assert {case.ratio for case in base} == {1.0}
    assert len({case.case for case in cases if case.measure == "memory"}) == len(EMBEDDINGS)


def test_dense_formula_is_the_printed_one():
    q, anchor, table = torch.randn(1, 1, 5, 4), random_anchor(1, 1, 5, torch.float32), torch.randn(9, 4)
    assert torch.allclose(dense_formula(q, anchor, table), rpe_square_by_loops(q, anchor, table), atol=1e-5)


def test_step_and_decoding_at_small_sizes(monkeypatch):
    monkeypatch.setitem(MODELS, "tiny", ModelConfig(layers=2, heads=2, dimension=8))
    steps = step_cases({("copy", "tiny"): (4, 2)}, {"tiny": (4, 2)})
    opponents = {case.against for case in steps if case.measure == "speed"}
    assert {HUGGING_FACE, "float32"} <= opponents
    assert len(steps) == 2 * (2 * (len(opponents) - 1) + 1) + 1
    decoded = decode_cases(("tiny",), ((3, 4),), rounds=2)
    assert [case.case.split(", ")[1] for case in decoded] == ["absolute", "rpe-square", "latent-window"]


def test_decoding_after_long_strings_needs_no_more_memory():
    cases = {(case.measure, case.shape): case.ratio for case in far_cases((600, 800, 1600), rounds=1)}
    assert {measure for measure, _ in cases} == {"cost", "memory", "exponent"}
    assert cases["memory", "after 800 tokens"] == cases["memory", "after 1600 tokens"] == 1
    assert cases["exponent", "600 to 1600 tokens"] < 1.05


def test_seeds_start_and_length_at_small_sizes():
    assert [(case.case.split()[0], case.shape) for case in seeds_cases((2,), rounds=2)] == [
        (str(count), f"copy, {position}, batch 2") for position in ("rpe-square", "latent-window") for count in SEEDS
    ]
    assert [case.case.split()[2] for case in start_cases(rounds=1)] == ["show,", "evaluate,"]
    growth = [case for case in length_cases((8, 16), rounds=2) if case.measure == "cost"]
    assert [case.case.split(", ")[0] for case in growth] == list(LONG_EMBEDDINGS)
    assert {case.against for case in growth} == {"n=8"}


def test_training_with_every_peer_costs_something_against_rpe():
    cases = {case.case.removeprefix("training, "): case for case in peers_cases(rounds=2, batch=4)}
    assert list(cases) == ["latent-window", *PEERS]
    assert cases["rpe"].ratio == 1
    assert all(case.ratio > 0 and case.measure == "cost" for case in cases.values())
    assert "1 layer," in cases["latent-window"].shape
    assert "2 layers," in cases["fire"].shape


def test_hugging_face_has_the_same_weights():
    ours, theirs = same_gpt2(ModelConfig(layers=3, heads=4, dimension=48))
    tokens = torch.randint(17, (5, 33))
    with torch.no_grad():
        assert (ours.eval()(tokens) - theirs.eval()(tokens).logits).abs().max() < 1e-5


def test_peak_memory_counts_what_is_alive_together():
    def one_after_the_other():
        for _ in range(3):
            torch.zeros(1000).add(1)

    def together():
        return [torch.zeros(1000) for _ in range(3)]

    assert peak_memory(one_after_the_other) == 8000
    assert peak_memory(together) == 12000


def test_exponent_of_a_power_law():
    assert exponent([2, 4, 8], [12.0, 48.0, 192.0]) == pytest.approx(2)


def test_growth_is_drawn(tmp_path):
    cases = [Case("rpe, forward+backward", "s", float(n), (n, n), "rpe", "growth", n) for n in (4, 8)]
    fit = Case("rpe, time, forward+backward", "s", 1.0, (1, 1), "n", "exponent")
    _, view = show_benchmarks([("length", [*cases, fit]), ("wht", [])], tmp_path)
    assert view[-1] == f"written: {tmp_path / 'length.json'}, {tmp_path / 'length.png'}, {tmp_path / 'wht.json'}"
    assert (tmp_path / "length.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "wht.json").read_text())["cases"] == []
    assert len(show_benchmarks([("wht", [])])[1]) == 1


def test_what_was_measured_before_a_crash_is_written(tmp_path):
    def measured():
        yield "wht", []
        raise MemoryError

    with pytest.raises(MemoryError):
        show_benchmarks(measured(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["wht.json"]


def test_unknown_benchmark(capsys):
    names = ["wht", "attention", "length", "step", "peers", "decode", "start", "seeds", "sweep"]
    assert list(BENCHMARKS) == names
    with pytest.raises(SystemExit) as ended:
        main(["bench", "zzz"])
    assert ended.value.code == 2
    message = f"ldhd: error: unknown benchmark 'zzz'; choose from all, {', '.join(names)}\n"
    assert capsys.readouterr().err == message
