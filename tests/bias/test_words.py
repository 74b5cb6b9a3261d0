"""Words of a task as points of a cube, with models that are exact rules: what is measured is then known."""

import numpy as np
import pytest
import torch

from ldhd.bias.embedding import embedding_matrices, embedding_options
from ldhd.bias.parts import Part, fourier_reference
from ldhd.bias.tokens import StepCube, attention_values, word_parts
from ldhd.bias.words import WordCube, Words, codes, expected_codes
from ldhd.boolean import (
    BooleanFunction,
    Encoding,
    FourierBasis,
    GrpeBasis,
    cube_points,
    fourier,
    min_degree_interpolator,
)
from ldhd.experiments.parts import build_position
from ldhd.tasks import TASKS, Task
from ldhd.tasks.copy import CopyFormat, Strings
from ldhd.tasks.tokens import VOCABULARY
from ldhd.theory.priming import PrimingProblem

COPY, REVERSAL, PARITY, DIRECT = (TASKS[name] for name in ("copy", "reversal", "parity", "parity-direct"))
N0, N = 2, 4


def rule(answer):
    """A model that is certain of the token which `answer` gives for the word and the answer so far."""

    def model(inputs, exploring):
        logits = torch.full((*inputs.shape, VOCABULARY.size), -100.0)
        for row, text in enumerate(VOCABULARY.decode(ids) for ids in inputs.tolist()):
            start = text.index("=")
            word = tuple(map(int, text[1:start]))
            for place in range(start, len(text)):
                token = answer(word, text[start + 1 : place + 1])
                logits[row, place, VOCABULARY.encode(token)[0]] = 100.0
        return logits

    return model


def follow(function):
    """The rule that writes the symbols of a function of the word, whatever is written before."""

    def answer(word, written):
        symbols = function(word)
        return str(symbols[len(written)]) if len(written) < len(symbols) else "e"

    return rule(answer)


def position(name):
    return build_position(name, embedding_options(name, N))


@pytest.fixture(scope="module")
def cube():
    return WordCube(COPY, 4, N)


@pytest.fixture(scope="module")
def parts(cube):
    return word_parts(cube, N0, [], position("rpe-square"))


class TestWords:
    def test_points_are_the_paper_s_encoding(self, cube):
        words = [cube.word(row) for row in range(2**cube.dimension)]
        expected = Encoding(range(4)).points(words, N)
        assert np.array_equal(expected, cube_points(cube.dimension))
        assert np.array_equal(Encoding(range(4)).scale(expected), cube.lengths)
        assert [len(word) for word in words] == cube.lengths.tolist()

    def test_codes_are_bits(self):
        assert codes(np.array([0, 1, 2, 3]), 2).tolist() == [[1, -1, 1, -1], [1, 1, -1, -1]]

    def test_the_value_is_the_mean_code(self):
        logits = torch.randn(3, 5, VOCABULARY.size, generator=torch.Generator().manual_seed(0))
        shares = logits.softmax(-1).double().numpy()
        code = {0: (1, 1), 1: (-1, 1), 2: (1, -1), 3: (-1, -1)}
        for bit in range(2):
            by_hand = sum(shares[..., token] * code.get(token, (1, 1))[bit] for token in range(VOCABULARY.size))
            assert np.allclose(expected_codes(logits, 4)[bit], by_hand, atol=1e-6)

    def test_samples_end_in_a_symbol_and_some_are_primed(self):
        primed = (3, 3, 3, 1)
        drawn = Words(4, [primed], 0.5).sample_training((1, 2), 400, torch.Generator().manual_seed(0))
        assert all(word[-1] for word in drawn)
        assert {len(word) for word in drawn} == {1, 2, 4}
        assert 140 < sum(word == primed for word in drawn) < 260
        assert all(word == primed for word in drawn if len(word) == 4)


class TestExactRules:
    def test_the_concept_has_its_own_coefficients(self, cube, parts):
        """Bit v of token p of copy is the variable 2 (p - 1) + v, whatever the scale; beyond N0 all of it leaks."""
        values, exact = cube.evaluate(follow(lambda word: word))
        assert set(exact.values()) == {1.0}
        for token, (part, own) in enumerate(zip(parts, values, strict=True)):
            for bit in range(2):
                coefficients = fourier(own[bit])
                assert coefficients[1 << (2 * token + bit)] == pytest.approx(1, abs=1e-6)
                assert np.sum(coefficients**2) == pytest.approx(1, abs=1e-6)
            found = part.measure(own)
            assert found["fitted"]
            assert found["compared"]["concept"] == pytest.approx({"distance": 0, "agreement": 1}, abs=1e-6)
            assert found["leakage"] == pytest.approx(float(token >= N0), abs=1e-6)
            assert found["profile"] == [0, 1, *[0] * 7]

    def test_the_first_symbols_are_the_fourier_interpolator(self, cube, parts):
        values, exact = cube.evaluate(follow(lambda word: word[:N0]))
        assert exact == {"1": 1, "2": 1, "3": 0, "4": 0}
        for part, own in zip(parts, values, strict=True):
            assert part.measure(own)["compared"]["fourier"] == pytest.approx({"distance": 0, "agreement": 1}, abs=1e-6)

    def test_the_last_symbols_are_the_suffix(self, cube, parts):
        values, _ = cube.evaluate(follow(lambda word: word[-N0:]))
        for part, own in zip(parts, values, strict=True):
            assert part.measure(own)["compared"]["suffix"] == pytest.approx({"distance": 0, "agreement": 1}, abs=1e-6)

    def test_reversal_is_suffix_where_copy_is_prefix(self):
        cube = WordCube(REVERSAL, 2, N)
        first, *_ = word_parts(cube, N0, [], position("rpe"))
        values, _ = cube.evaluate(follow(lambda word: word[::-1]))
        assert first.measure(values[0])["compared"]["suffix"]["agreement"] == 1


class TestReferences:
    @pytest.mark.parametrize("primed", [[], [37], [37, 50, 63]])
    def test_fourier_is_that_of_the_solver(self, primed):
        """Characters above the degree of the concept are left out, and nothing changes."""
        values = np.random.default_rng(0).normal(size=6) @ cube_points(6).T + 0.3
        rows = np.array([*range(8), *primed])
        (found,) = fourier_reference(values[None], rows)
        direct = min_degree_interpolator(cube_points(6)[rows], values[rows], FourierBasis(6))
        assert np.allclose(found, direct(cube_points(6)), atol=1e-9)

    def test_priming_leaves_the_error_that_the_theory_says(self, cube):
        primed = [0b11_01_10_01, 0b01_11_00_10]
        for part in word_parts(cube, N0, primed, position("rpe")):
            bits = [PrimingProblem(BooleanFunction(bit), FourierBasis(8), 2 * N0) for bit in part.concept]
            expected = np.mean([problem.error(primed) for problem in bits])
            gap = part.references["fourier"] - part.concept
            assert np.mean(gap**2) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("name", ["rpe", "rpe-square", "none"])
    def test_basis_of_the_first_token_is_that_of_grpe(self, name):
        """For words of bits the sets span the same functions, each U_k being divided by its norm."""
        cube = WordCube(COPY, 2, N)
        U = embedding_matrices(name, N)
        expected = GrpeBasis(U).evaluate(cube_points(N), list(range(1, len(U) + 1)))
        found = attention_values(cube, position(name))[:, 0]
        found = found[np.any(found != 0, axis=1)]  # other classes are of later answer tokens
        norms = [np.sqrt(np.count_nonzero(u)) for u in U]
        assert np.allclose(found, expected.T * np.array(norms)[:, None])

    def test_rpe_square_has_copy_in_its_span_and_rpe_has_not(self, cube, parts):
        """All answer tokens share one set, so that those beyond N0, which no word trained on has, are right too."""
        for part in parts:
            assert np.allclose(part.references["embedding"], part.concept)
        for part in word_parts(cube, N0, [], position("rpe")):
            assert "no interpolator exists" in part.missing["embedding"]


class TestSteps:
    @pytest.mark.parametrize("n", [2, 3, 4])
    def test_chain_of_thought_lowers_the_degree(self, n):
        chain, direct = StepCube(PARITY, 2, n).part(True), StepCube(DIRECT, 2, n).part(True)
        assert (chain.dimension, chain.degree, len(chain.rows)) == (2 * n - 1, 2, 2**n)
        assert (direct.dimension, direct.degree, len(direct.rows)) == (n, n, 2**n)
        x, y = cube_points(2 * n - 1)[:, :n], cube_points(2 * n - 1)[:, n:]
        assert np.array_equal(chain.concept[0], x[:, -1] * y[:, -1])
        assert np.array_equal(chain.references["answer"][0], x.prod(axis=1))

    def test_the_interpolator_on_right_strings_is_the_step(self):
        """From three bits on; with two, y1 = x1, so that half of x2 y1 and half of x1 x2 is smaller than either."""
        three = StepCube(PARITY, 2, 3).part(True)
        assert np.allclose(three.references["fourier"], three.concept)
        x, y = cube_points(3)[:, :2], cube_points(3)[:, 2]
        two = StepCube(PARITY, 2, 2).part(True).references["fourier"][0]
        assert np.allclose(two, x[:, 1] * (x[:, 0] + y) / 2)

    def test_models_that_step_and_that_start_again_differ_off_the_chain(self):
        cube = StepCube(PARITY, 2, 3)
        part = cube.part(True)
        step = rule(lambda word, y: str((word[len(y)] + int(y[-1:] or 0)) % 2) if len(y) < len(word) else "e")
        again = rule(lambda word, y: str(sum(word[: len(y) + 1]) % 2) if len(y) < len(word) else "e")
        found, other = (part.measure(cube.evaluate(model)) for model in (step, again))
        assert found["fitted"]
        assert other["fitted"]
        assert found["profile"] == [0, 0, 1, 0, 0, 0]
        assert other["profile"] == [0, 0, 0, 1, 0, 0]
        assert found["compared"]["concept"]["agreement"] == other["compared"]["answer"]["agreement"] == 1
        assert found["compared"]["answer"]["agreement"] == other["compared"]["concept"]["agreement"] < 1

    def test_answers_with_other_tokens_are_refused(self):
        with pytest.raises(ValueError, match=r"not of the symbols 0 \.\. 1 alone"):
            StepCube(TASKS["sorting"], 2, 3)

    def test_needs_that_depend_on_symbols_are_refused(self):
        class Pointed(CopyFormat):
            def needs(self, latent, label):
                return [{"x": 1 + latent[0]}, {}]

        task = Task("pointed", Strings(2), lambda word: (word[word[0]],), Pointed())
        with pytest.raises(ValueError, match="depends on the symbols, not on places alone"):
            StepCube(task, 2, 2)


def test_leakage_and_profile_of_a_planted_function():
    """0.6 x1 + 0.8 x2 x4 with N0 = 2: a share of 0.64 beyond, 0.36 of degree 1 and 0.64 of degree 2."""
    x = cube_points(4).astype(float)
    planted = 0.6 * x[:, 0] + 0.8 * x[:, 1] * x[:, 3]
    part = Part("planted", np.sign(planted)[None].astype(np.int8), np.arange(4), np.ones(16, bool), 2)
    found = part.measure(planted[None])
    assert found["leakage"] == pytest.approx(0.64)
    assert found["profile"] == [0, 0.36, 0.64, 0, 0]
