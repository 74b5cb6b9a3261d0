"""`ldhd bias` as a user types it."""

import json

import numpy as np
import pytest

from contracts.command import ldhd
from ldhd.bias.cells import Store
from ldhd.theory.feature_kernel import RELU
from ldhd.theory.feature_spectrum import closed_form

SMALL = ["x1*x2 + x3", "--train-scale", "2", "--dimension", "4"]
TINY = ["--set", "steps=4", "--set", "width=8"]


def bias(capsys, *arguments):
    code, out, err = ldhd(capsys, "bias", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_one_cell_in_detail(capsys, tmp_path):
    code, out, err = ldhd(
        capsys, "bias", *SMALL, "--model", "transformer-rpe", "--seeds", "0-1", *TINY, "--out", tmp_path
    )
    assert (code, err) == (0, "")
    for part in ("which interpolator was learned", "fourier", "kernel", "largest Fourier coefficients", "x1 x2"):
        assert part in out
    for part in ("over training", "share of Fourier weight by degree", "spread over seeds"):
        assert part in out
    assert {path.name for path in tmp_path.glob("*.png")} == {"coefficients.png", "training.png"}


def test_json_and_learned_functions(capsys, tmp_path):
    document = bias(capsys, *SMALL, "--model", "rf", "--seeds", "0-2", "--set", "width=64", "--out", tmp_path)
    (cell,) = document["cells"]
    assert (cell["N"], cell["N0"], cell["training_points"], len(cell["runs"])) == (4, 2, 4, 3)
    stored = Store(tmp_path).learned[cell["key"]]
    assert stored.shape == (3, 16)
    labels = [2.0, 0.0, 0.0, 2.0]  # x1 x2 + 1
    assert np.allclose(stored[:, :4], labels, atol=2e-3)
    assert bias(capsys, *SMALL, "--model", "rf", "--seeds", "0-2", "--set", "width=64", "--out", tmp_path) == document


def test_nothing_runs_twice(capsys, tmp_path, monkeypatch):
    arguments = *SMALL, "--model", "mlp,rf", "--width", "4,8", "--seeds", "0-1", "--out", tmp_path
    first = bias(capsys, *arguments)
    assert len(first["cells"]) == 4
    assert (tmp_path / "map.png").exists()
    assert (tmp_path / "width.png").exists()
    monkeypatch.setattr("ldhd.bias.cells.run_cell", lambda spec: pytest.fail("it was measured before"))
    assert bias(capsys, *arguments) == first


def test_leakage_of_random_features_against_n(capsys):
    """Theorem 2, corrected: at infinite width the weight beyond N0 is that of the closed form, for each N."""
    infinite = "--model", "rf", "--set", "width=null", "--seeds", "0"
    document = bias(capsys, "x1", "--train-scale", "1", "--dimension", "2-4", *infinite)
    assert [cell["N"] for cell in document["cells"]] == [2, 3, 4]
    for cell in document["cells"]:
        weights = closed_form(RELU, [1.0, -1.0], cell["N"]).fourier.array ** 2
        assert cell["runs"][0]["leakage"] == pytest.approx(weights[2:].sum() / weights.sum(), rel=1e-4)
        assert cell["interpolators"]["fourier"]["low"] is None  # of one seed


def test_where_plaa_does_not_apply_the_others_go_on(capsys):
    document = bias(capsys, *SMALL, "--model", "plaa-rpe,rf", "--seeds", "0")
    assert document["cells"][0]["verdict"] == "does not apply"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x1*x9", "--dimension", "3"], "'x9' in 'x1*x9' is unknown; there are x1, x2, x3"),
        (["x1*x2", "--dimension", "40"], "N is from 1 to 24, because 2^N points are evaluated, got 40"),
        (["x1*x2", "--model", "plaa-rpe"], "x1*x2 is outside the span of PLAA on X_2: no interpolator exists"),
        (["example-3", "--projection", "1,1;1,-1", "--model", "rf"], "the basis is linearly dependent"),
        (["example-3", "--projection", "1,0;1,1", "--model", "rfmp"], "V^T V must be the identity"),
        (["x1*x2", "--bases", "fourrier", "--model", "rf"], "unknown basis 'fourrier'"),
        (["x1*x2", "--bases", "B(V)", "--model", "rf"], "B(V) needs a V; give --projection"),
        (["x1*x2", "--model", "rf", "--set", "steps=3"], "rf has no setting 'steps'"),
        (["nothing-here"], "unknown concept 'nothing-here'"),
        (["x1*x2", "--seeds", "a"], "--seeds: 'a' is neither"),
        (["x1*x2", "--dimension", "2", "--train-scale", "3"], "N0 = 0 .. N = 2, got N0 = 3"),
    ],
)
def test_bad_input(capsys, arguments, message):
    code, out, err = ldhd(capsys, "bias", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ldhd: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_the_report_shows_the_map(capsys, tmp_path):
    bias(capsys, *SMALL, "--model", "rf,rfmp", "--projection", "square", "--seeds", "0", "--out", tmp_path / "bias")
    page = tmp_path / "report.html"
    code, _, _ = ldhd(capsys, "report", tmp_path, "--bias", tmp_path / "bias", "-o", page)
    assert code == 0
    assert "What models learn on the unseen points" in page.read_text()
    code, _, err = ldhd(capsys, "report", tmp_path, "--bias", tmp_path, "-o", page)
    assert code == 2
    assert "holds no measured cells" in err
