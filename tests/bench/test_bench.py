"""Benchmarks measure ratios; what they compare must agree."""

import numpy as np
import pytest

from ldhd.bench import BENCHMARKS
from ldhd.bench.ratio import compare, machine
from ldhd.bench.wht import butterfly, walsh_hadamard_cases
from ldhd.boolean import fourier
from ldhd.cli import main


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


def test_unknown_benchmark(capsys):
    assert set(BENCHMARKS) == {"wht"}
    with pytest.raises(SystemExit) as ended:
        main(["bench", "speed"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "ldhd: error: unknown benchmark 'speed'; choose from wht\n"
