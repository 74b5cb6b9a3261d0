"""What each model learns, against what is known of it; the tolerances are those of the ledger."""

import numpy as np
import pytest
import torch

from ldhd.bias.embedding import embedding_matrices
from ldhd.bias.measure import measure, spread
from ldhd.bias.mlp import MLPs
from ldhd.bias.models import make_model, parse_projection
from ldhd.bias.problem import make_problem
from ldhd.bias.references import references
from ldhd.bias.training import train
from ldhd.bias.transformer import Transformers
from ldhd.boolean import cube_points, rpe_matrices, scale
from ldhd.model import ModelConfig
from ldhd.tasks.tokens import encode
from ldhd.theory.feature_kernel import RELU, kernel_interpolator
from ldhd.theory.finding import ROUNDING
from ldhd.theory.random_features import sampling_error


def learned(name, problem, seeds=(0,), **settings):
    return list(make_model(name, settings).learn(problem, seeds))[-1][1]


class TestFeatures:
    @pytest.mark.parametrize("activation", ["relu", "sin(1+x)"])
    def test_infinite_width_is_the_closed_form(self, activation):
        """By the kernel on all but none of the points, and by the closed form."""
        problem = make_problem("x1*x2 + x3 + 2*x5", scale=3)
        closed = learned("rf", problem, width=None, activation=activation)[0]
        kernel = learned("rfmp", problem, width=None, activation=activation, projection="square")[0]
        assert np.max(np.abs(closed - kernel)) < ROUNDING  # a square V changes nothing

    def test_many_features_are_near_the_limit(self):
        problem = make_problem("4*x1 + 3*x2", 4, 2)
        constants = sampling_error(
            RELU, np.eye(4), problem.points, problem.labels, cube_points(4), np.random.default_rng(0)
        )
        limit = learned("rf", problem, width=None)[0]
        found = learned("rf", problem, range(3), width=2**13)
        errors = np.sqrt(np.mean((found - limit) ** 2, axis=1))
        assert np.all(errors < constants.bound(2**13))
        assert np.mean(errors) < 3 * constants.typical(2**13)

    def test_example_3(self):
        """One column: the limit of linear features is the concept itself, the min-degree interpolator w.r.t. B(V)."""
        problem = make_problem("example-3")
        V = parse_projection("0.8,0.6", 2)
        (wanted,) = references(problem, ["B(V)"], V)
        found = learned("rfmp", problem, width=None, activation="1+x", projection="0.8,0.6")[0]
        assert np.allclose(wanted.values, problem.concept.values, atol=ROUNDING)
        relu = kernel_interpolator(RELU, V, problem.points, problem.labels)(cube_points(2))
        assert np.allclose(learned("rfmp", problem, width=None, projection="0.8,0.6")[0], relu)
        assert np.allclose(found[problem.rows], problem.labels, atol=1e-6)

    @pytest.mark.parametrize(("text", "message"), [("1,2", "N = 3"), ("a", "columns such as"), ("0,0,0", "not all 0")])
    def test_bad_projection(self, text, message):
        with pytest.raises(ValueError, match=message):
            parse_projection(text, 3)

    def test_dependent_basis(self):
        V = parse_projection("1,1;1,-1", 2)
        with pytest.raises(ValueError, match=r"linearly dependent: element \(1, 2\) is zero"):
            references(make_problem("example-3"), ["B(V)"], V)


class TestPlaa:
    def test_ape_is_the_interpolator_up_to_alpha(self):
        problem = make_problem("rpe-seen", 6, 3)
        (wanted,) = references(problem, ["plaa"])
        for alpha in (1e-2, 1e-5):
            found = learned("plaa-ape", problem, alpha=alpha)[0]
            off = np.where(scale(cube_points(6)) > 3, -alpha, 0.0)  # alpha is left on the diagonal beyond N0
            assert np.allclose(found, wanted.values + off, atol=ROUNDING)

    @pytest.mark.parametrize(("position", "name"), [("rpe", "rpe-unseen"), ("rpe-square", "place-unseen")])
    def test_grpe_is_the_interpolator(self, position, name):
        problem = make_problem(name)
        (wanted,) = references(problem, [position])
        found = learned(f"plaa-{position}", problem)[0]
        assert np.allclose(found, wanted.values, atol=1e-8)
        assert not np.allclose(found, problem.concept.values, atol=0.1)

    @pytest.mark.parametrize(("position", "name"), [("rpe", "rpe-seen"), ("rpe-square", "place-seen")])
    def test_corollary_2(self, position, name):
        problem = make_problem(name)
        assert np.allclose(learned(f"plaa-{position}", problem)[0], problem.concept.values, atol=1e-8)

    @pytest.mark.parametrize(("name", "where"), [("sparse-seen", None), ("rpe-seen", "x1")])
    def test_does_not_apply(self, name, where):
        with pytest.raises(ValueError, match=r"outside the span of PLAA on X_5|all of X_N0"):
            learned("plaa-rpe", make_problem(name, where=where))


class TestEmbedding:
    def test_rpe_has_the_diagonals(self):
        assert np.allclose(embedding_matrices("rpe", 5), rpe_matrices(5))

    def test_absolute_has_single_entries(self):
        U = embedding_matrices("absolute", 4)
        assert U.shape == (10, 4, 4)
        assert np.allclose(U.sum(axis=0), np.triu(np.ones((4, 4))))

    def test_rpe_square_has_the_rows(self):
        """The query = measures from itself, so that what is left is the place of the key."""
        U = embedding_matrices("rpe-square", 4)
        assert sorted(np.flatnonzero(u.any(axis=1)).tolist() for u in U) == [[0], [1], [2], [3]]

    def test_without_positions_there_is_one_class(self):
        assert embedding_matrices("none", 3).shape == (1, 3, 3)


class TestNetworks:
    def test_strings(self):
        models = Transformers(3, ModelConfig(layers=1, heads=1, dimension=4), "rpe", {}, "softmax", "word", [0])
        rows = torch.tensor([0, 1, 5])  # the words are empty, -1, and -1 1 -1
        padding = 16
        expected = [[padding] * 3 + encode("b="), [padding] * 2 + encode("b1="), encode("b101=")]
        assert models.tokens(rows).tolist() == expected

    @pytest.mark.parametrize("attention", ["softmax", "linear"])
    def test_batched_seeds_are_the_models_one_by_one(self, attention):
        config = ModelConfig(layers=2, heads=2, dimension=8)
        models = Transformers(4, config, "rpe", {}, attention, "word", [0, 1])
        together = models(torch.arange(16))
        assert models.weights is not None
        models.weights = None
        assert torch.allclose(together, models(torch.arange(16)), atol=1e-6)
        assert torch.allclose(models(torch.arange(16).expand(2, -1)), together, atol=1e-6)

    def test_plain_softmax_is_that_of_the_model(self):
        from ldhd.model.attention import AttentionWeights

        models = Transformers(4, ModelConfig(layers=1, heads=2, dimension=8), "rpe-square", {}, "softmax", "word", [0])
        assert models.weights is None  # its gradient cannot be batched
        found = models(torch.arange(16))
        attention = models.models[0].blocks[0].attention
        attention.weights = AttentionWeights(models.models[0].config)
        assert torch.allclose(found, models(torch.arange(16)), atol=1e-6)

    @pytest.mark.parametrize("kind", ["mlp", "transformer"])
    def test_seeds_do_not_influence_one_another(self, kind):
        problem = make_problem("x1*x2 + x3", scale=2)

        def run(seeds):
            if kind == "mlp":
                ensemble = MLPs(3, 8, 1, seeds)
            else:
                config = ModelConfig(layers=1, heads=2, dimension=8)
                ensemble = Transformers(3, config, "absolute", {}, "softmax", "word", seeds)
            return list(train(ensemble, problem, seeds, 20, 1e-2))[-1][1]

        assert np.allclose(run([3, 4])[1], run([4])[0], atol=1e-4)

    def test_batches_beyond_their_size(self):
        problem = make_problem("x1*x2", 9, 9)
        steps = [step for step, _ in make_model("mlp", {"steps": 4, "width": 4}).learn(problem, [0, 1])]
        assert steps == [1, 2, 4]

    def test_an_mlp_fits(self):
        problem = make_problem("x1*x2 + x3", scale=3)
        values = learned("mlp", problem, [0, 1], width=32, steps=300, rate=1e-2)
        assert all(measure(problem, one, []).fitted for one in values)

    @pytest.mark.parametrize(
        ("name", "settings", "message"),
        [
            ("mpl", {}, "unknown model 'mpl'"),
            ("mlp", {"depth": 2}, "mlp has no setting 'depth'; its settings are layers"),
            ("mlp", {"width": 0}, "mlp: width"),
            ("transformer-rpx", {}, "unknown position 'rpx'"),
        ],
    )
    def test_bad_settings(self, name, settings, message):
        with pytest.raises(ValueError, match=message):
            make_model(name, settings)


class TestMeasure:
    def test_by_hand(self):
        """c = x1 + x2, N0 = 1, and x1 + 1 was learned: all weight is where it should be; 2 off at half of the rest."""
        problem = make_problem("x1 + x2", scale=1)
        found = measure(problem, np.array([2.0, 0.0, 2.0, 0.0]), references(problem, ["concept", "fourier"]))
        assert found.training_error == 0
        assert found.leakage == 0
        assert found.distances["fourier"] == 0
        assert found.distances["concept"] == pytest.approx(2 / np.sqrt(2))
        assert found.profile == (0.5, 0.5, 0.0)

    def test_leakage_is_weight_beyond_the_scale(self):
        problem = make_problem("x1 + x2", scale=1)
        assert measure(problem, problem.concept.values, []).leakage == pytest.approx(0.5)
        assert measure(make_problem("x1 + x2"), problem.concept.values, []).leakage is None

    def test_spread(self):
        problem = make_problem("x1 + x2", scale=1)
        values = problem.concept.values
        assert spread(problem, [values]) is None
        assert spread(problem, [values, values]) == 0
        shifted = values + 2 * problem.unseen
        assert spread(problem, [values, shifted]) == pytest.approx(np.sqrt(2) / np.sqrt(2))
