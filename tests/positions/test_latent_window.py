"""The latent window."""

import itertools
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
import torch

from contracts.formulas import rpe_absolute_by_loops, rpe_square_by_loops
from contracts.position import PositionContract, bias_of, causal
from ldhd.bench.memory import peak_memory
from ldhd.evaluate.decode import pad
from ldhd.experiments.parts import position_options
from ldhd.model import GPT, ModelConfig, attention
from ldhd.model.packing import last_tokens
from ldhd.positions import LatentWindow, latent_window
from ldhd.positions.context import Context, Nearby
from ldhd.positions.latent_window import BEYOND, OUTSIDE
from ldhd.tasks.tokens import CHARACTERS, VOCABULARY_SIZE, encode


class TestLatentWindow(PositionContract):
    hidden_below = -10.0

    def make(self, dimension, heads, layer=0):
        return LatentWindow(dimension, heads, layer, window=4)

    @pytest.mark.parametrize("one_product", [0, 7])
    def test_soft_is_the_formula(self, one_product, monkeypatch):
        """Of RPE-Square, with what lies beyond the window in the place of the end rows, and anchors lowered as much."""
        monkeypatch.setattr(latent_window, "ONE_PRODUCT", one_product)
        for (absolute, relative), window in itertools.product(((False, 4), (True, 2), ("start", 2)), (1, 3, 7)):
            position = LatentWindow(16, 4, window=window, absolute=absolute, anchor_scale=1.5, table_std=1.0)
            q, hidden = torch.randn(1, 4, 7, 4), torch.randn(1, 7, 16)
            anchor = position.anchor(q, q, Context.causal(hidden, exploring=True)).weights()
            bias = bias_of(position, q, hidden, exploring=True, generator=torch.Generator().manual_seed(window))
            beyond = 1 - (1 + BEYOND) ** torch.rand(1, generator=torch.Generator().manual_seed(window))
            ends = beyond * q / q.square().sum(-1, keepdim=True)
            expected = torch.zeros(1, 4, 7, 7)
            for j in range(7):
                table = torch.cat([ends[0, :, j, None], position.table, ends[0, :, j, None]], dim=1)
                one = rpe_square_by_loops(q, anchor, table)
                own = rpe_absolute_by_loops(q, anchor, table[:, : window + 2].flip(1))
                one = torch.cat([one[:, :relative], own[:, relative:]], dim=1)
                expected[:, :, j] = one[:, :, j] + beyond * anchor.diagonal(dim1=-2, dim2=-1)
            assert torch.allclose(bias.tril(), expected.tril(), atol=1e-4), (absolute, window)

    def test_what_is_far_in_latent_places_is_out_of_sight_at_any_length(self):
        """With delimiters as anchors, digits farther than the window from a query's place change nothing there."""
        torch.manual_seed(0)
        model = GPT(
            ModelConfig(layers=1, heads=2, dimension=16, position_only=True), VOCABULARY_SIZE, LatentWindow
        ).eval()
        first = model.blocks[0]
        hidden = first.attention_norm(model.tokens.weight).detach()
        wanted = torch.tensor([-1.0] * 10 + [1.0] * (VOCABULARY_SIZE - 10))
        first.attention.position.anchor.key.weight.data[0] = torch.linalg.lstsq(hidden, wanted).solution
        for scale in (5, 50):
            near, far = "1" * scale, "1" * 2 + "7" * (scale - 2)
            text = torch.tensor([encode(f"b{number}=11") for number in (near, far)])
            one, other = model(text)[:, scale + 2]  # after the first answer digit, which sees places 1 +- 1
            assert torch.allclose(one, other, atol=1e-6)
            one, other = model(text)[:, scale + 3]
            assert not torch.allclose(one, other, atol=1e-4)

    def test_relation_is_none_of_the_rest_beyond_the_window(self):
        position = LatentWindow(8, 2)
        assert [position.relation("b123=12", 6, i) for i in range(7)] == [OUTSIDE, 1, 0, -1, OUTSIDE, 1, 0]
        assert position.relation("b1=", 2, 0) == OUTSIDE
        both = LatentWindow(8, 2, absolute=True)
        assert both.relation("b123=12", 6, 1) == (1, -1)


class TestLatentWindowAbsolute(PositionContract):
    hidden_below = -10.0

    def make(self, dimension, heads, layer=0):
        return LatentWindow(dimension, heads, layer, window=2, absolute=True)


class TestLatentWindowFromTheStart(PositionContract):
    hidden_below = -10.0

    def make(self, dimension, heads, layer=0):
        return LatentWindow(dimension, heads, layer, window=2, absolute="start")

    def test_half_of_the_heads_measure_from_the_first_token(self):
        position = self.make(8, 4)
        # two tokens of padding on the left
        visible = causal(6) & (torch.arange(6) >= 2) | torch.eye(6, dtype=torch.bool)
        hidden, q = torch.randn(1, 6, 8), torch.randn(1, 4, 6, 2)
        context = replace(Context.causal(hidden), visible=visible)
        weights = position.anchor(q, q, replace(context, exploring=True)).weights()
        assert torch.allclose(weights[:, 2:, 2:, 2], torch.ones(1, 2, 4))
        assert not torch.allclose(weights[:, :2, 2:, 2], torch.ones(1, 2, 4))
        hard = position.anchor(q, q, context).distances
        assert hard[0, 2:, 2:].tolist() == 2 * [[0, 1, 2, 3]]

    def test_their_gates_are_not_trained(self):
        position, penalties = self.make(8, 4), []
        hidden = torch.randn(1, 3, 8).repeat(1, 3, 1)  # every token stands in three places
        bias = bias_of(position, torch.randn(1, 4, 9, 2), hidden, exploring=True, penalties=penalties)
        (bias.sum() + sum(penalties)).backward()
        gradient = position.anchor.key.weight.grad.abs().amax(-1)
        assert gradient[:2].min() > 0
        assert gradient[2:].max() == 0

    def test_relation_holds_the_place_in_the_string(self):
        position = LatentWindow(8, 2, absolute="start")
        assert [position.relation("b7=12", 4, i)[1] for i in range(5)] == [OUTSIDE, -1, OUTSIDE, OUTSIDE, OUTSIDE]

    def test_another_word_is_refused(self):
        with pytest.raises(ValueError, match=r"absolute: .*valid boolean or .*'start'"):
            position_options("latent-window", {"absolute": "end"})


class TestLatentWindowFromBothEnds(PositionContract):
    hidden_below = -10.0

    def make(self, dimension, heads, layer=0):
        return LatentWindow(dimension, heads, layer, window=2, ends=True)

    def test_relation_holds_the_distance_to_the_next_anchor(self):
        position = self.make(8, 2)
        found = [position.relation("b123=12", 6, i) for i in range(7)]
        assert found == [(OUTSIDE, OUTSIDE), (1, -1), (0, 0), (-1, 1), (OUTSIDE, OUTSIDE), (1, OUTSIDE), (0, OUTSIDE)]
        assert position.relation("b123=12", 3, 2) == (1, OUTSIDE)

    def test_heads_are_divided_between_the_kinds(self):
        assert LatentWindow(16, 8, ends=True).kinds == (4, 4, 0)
        assert LatentWindow(16, 8, ends=True, absolute="start").kinds == (4, 2, 2)
        for heads, absolute in ((2, True), (3, False)):
            with pytest.raises(ValueError, match=f"got {heads}"):
                LatentWindow(6, heads, ends=True, absolute=absolute)


class TestLatentWindowWithSegments(PositionContract):
    hidden_below = -10.0

    def make(self, dimension, heads, layer=0):
        return LatentWindow(dimension, heads, layer, window=2, segments=2)

    def test_relation_holds_the_number_of_anchors_between(self):
        position = LatentWindow(8, 2, segments=3)
        assert [position.relation("b1+1+1+1=1", 9, i) for i in (1, 3, 5, 7, 9)] == [
            (0, 2),
            (0, 2),
            (0, 2),
            (0, 1),
            (0, 0),
        ]
        with pytest.raises(ValueError, match="segments must not be negative, got -1"):
            LatentWindow(8, 2, segments=-1)


RECIPE = {"position_only": True, "sharpen": 5.0, "null_lead": 1.0}
LOGARITHMIC = {"position_only": True, "log_length": True, "log_length_reference": 2, "sharpen": 3.0}
CONTENT = {"sharpen": 4.0}
BOTH_ENDS = {"ends": True, "segments": 3}
TEXTS = ("b90417053486+52632984=26804", "b1+2=", "b314159265358979323+2=", "b5*314159=", "b=")


def with_anchors(anchors, **options):
    """A model of one layer with a null key, each head of which has the given tokens for anchors."""
    torch.manual_seed(3)
    own = {name: options.pop(name) for name in ("window", "absolute", "ends", "segments") if name in options}
    model = GPT(
        ModelConfig(layers=1, heads=len(anchors), dimension=32, weight_std=0.4, null_key=True, **options),
        VOCABULARY_SIZE,
        lambda *size: LatentWindow(*size, **own, table_std=1.0),
    ).eval()
    hidden = model.blocks[0].attention_norm(model.tokens.weight).detach()
    wanted = torch.tensor([[1.0 if token in own else -1.0 for own in anchors] for token in CHARACTERS])
    model.position.anchor.key.weight.data = torch.linalg.lstsq(hidden[: len(wanted)], wanted).solution.T
    return model


@contextmanager
def noted_terms(model, few):
    """Note of each position term of a model whether it is of few keys."""
    position = model.position
    with pytest.MonkeyPatch.context() as patch:

        def bias(*arguments, original=position.bias):
            found = original(*arguments)
            few.append(isinstance(found, Nearby))
            return found

        patch.setattr(position, "bias", bias)
        yield


@pytest.mark.parametrize("absolute", [False, True, "start"])
@pytest.mark.parametrize("ends", [{}, BOTH_ENDS])
@pytest.mark.parametrize(("window", "options"), [(1, RECIPE), (3, RECIPE), (1, LOGARITHMIC), (2, CONTENT)])
def test_decoding_by_window_is_decoding_by_all_keys(absolute, ends, window, options, monkeypatch):
    """Of rows of unequal length, token by token, also where a digit is an anchor, and as without a cache."""
    model = with_anchors(["b+*=", "=", "b+*=7", "+"], window=window, absolute=absolute, **ends, **options)
    for rows in (TEXTS, TEXTS[:1]):
        tokens, valid = pad([encode(text) for text in rows], "left", torch.device("cpu"))
        found = []
        # from the first token on, after the prompt, and leaving no key out
        for negligible, far in ((attention.NEGLIGIBLE, 0), (attention.NEGLIGIBLE, tokens.shape[1]), (1e9, 0)):
            monkeypatch.setattr(attention, "NEGLIGIBLE", negligible)
            monkeypatch.setattr(latent_window, "FAR", far)
            cache, few = model.new_cache(), []
            with noted_terms(model, few):
                logits = [model(tokens, valid, cache, last_tokens(len(tokens), tokens.shape[1], tokens.device))]
                logits += [model(torch.full((len(tokens), 1), t), None, cache)[:, 0] for t in encode("123+4=567e890")]
            found.append(torch.stack(logits))
            # all keys are scored where contents count, and where each padded row has a log-length of its own
            needed = options is CONTENT or (options is LOGARITHMIC and len(rows) > 1)
            assert any(few) == (negligible < 1e9 and not needed)
        assert all(torch.allclose(one, found[-1], atol=2e-4) for one in found)
        for row, text in enumerate(rows):
            alone = model(torch.tensor([encode(text + "123+4=567e890")]))[0, len(text) - 1 :]
            assert torch.allclose(found[0][:, row], alone, atol=2e-4)


def by_loops(position, q, marks, beyond):
    """What every head of a latent window adds, given its anchors, one pair of tokens after the other."""
    result = torch.zeros(q.shape[1], len(marks[0]), len(marks[0]))
    kinds = [
        kind for kind, count in zip(("last", "next", "absolute"), position.kinds, strict=True) for _ in range(count)
    ]
    for h, (kind, own) in enumerate(zip(kinds, marks, strict=True)):
        for j in range(len(own)):
            for i in range(j + 1):
                query = 0 if kind == "absolute" else j - max(a for a in range(j + 1) if own[a])
                key = i - max(a for a in range(i + 1) if own[a])
                if kind == "next":
                    key = next((b - i for b in range(i + 1, j + 1) if own[b]), None)
                inside = key is not None and abs(query - key) <= position.window
                term = q[0, h, j] @ position.table[h, query - key + position.window] if inside else beyond
                if position.segments:
                    between = min(sum(own[i + 1 : j + 1]), position.segments - 1)
                    term = term + q[0, h, j] @ position.segment_table[h, between]
                result[h, j, i] = term + (beyond if own[i] else 0.0)
    return result


@pytest.mark.parametrize("absolute", [False, True, "start"])
@pytest.mark.parametrize("segments", [0, 1, 3])
def test_hard_is_what_the_docstring_says(absolute, segments):
    torch.manual_seed(segments)
    position = LatentWindow(16, 8, window=2, absolute=absolute, ends=True, segments=segments, table_std=1.0)
    q, hidden = torch.randn(1, 8, 12, 2), torch.randn(1, 12, 16)
    marks = position.anchor.new_scores(Context.causal(hidden))[0] > 0
    marks[:, 0] = True
    expected = by_loops(position, q, marks.tolist(), -BEYOND)
    assert torch.allclose(bias_of(position, q, hidden)[0].tril(), expected, atol=1e-4)


@pytest.mark.parametrize("window", [1, 2, 4])
def test_soft_is_the_mean_over_all_anchors(window):
    """Of the hard formula over all choices of anchors, weighted with their probabilities, in the heads with `ends`."""
    torch.manual_seed(window)
    position = LatentWindow(16, 4, window=window, ends=True, anchor_scale=1.5, table_std=1.0)
    q, hidden = torch.randn(1, 4, 7, 4), torch.randn(1, 7, 16)
    chances = position.anchor.new_scores(Context.causal(hidden))[0].sigmoid()
    chances[:, 0] = 1.0
    beyond = 1 - (1 + BEYOND) ** torch.rand(1, generator=torch.Generator().manual_seed(window))
    expected = torch.zeros(4, 7, 7)
    for rest in itertools.product([False, True], repeat=6):
        marks = torch.tensor([True, *rest])
        weight = chances.where(marks, 1 - chances).prod(-1)
        expected += weight[:, None, None] * by_loops(position, q, [marks.tolist()] * 4, beyond)
    bias = bias_of(position, q, hidden, exploring=True, generator=torch.Generator().manual_seed(window))
    assert torch.allclose(bias[0, 2:].tril(), expected[2:], atol=1e-4)


def test_soft_becomes_hard_where_anchors_are_certain(monkeypatch):
    torch.manual_seed(0)
    position = LatentWindow(16, 8, window=2, absolute="start", **BOTH_ENDS, anchor_scale=1e4, table_std=1.0)
    position = position.double()
    q, hidden = torch.randn(1, 8, 30, 2).double(), torch.randn(1, 30, 16).double()
    monkeypatch.setattr(position, "_beyond", lambda *_: torch.full((1, 1, 1, 1), -BEYOND).double())
    hard, soft = (bias_of(position, q, hidden, exploring=exploring).tril() for exploring in (False, True))
    assert torch.allclose(hard, soft, atol=1e-3)


@pytest.mark.parametrize("long", [False, True])
def test_no_key_tells_of_an_anchor_that_has_not_come(long, monkeypatch):
    """In training too: what stands after a query changes nothing there."""
    monkeypatch.setattr(latent_window, "is_long", lambda *_: long)
    position = LatentWindow(16, 8, window=2, absolute=True, **BOTH_ENDS, table_std=1.0)
    q, hidden = torch.randn(1, 8, 20, 2), torch.randn(1, 20, 16)
    for exploring in (False, True):
        terms = []
        for n in (20, 12):
            drawn = {"exploring": exploring, "generator": torch.Generator().manual_seed(0)}
            terms.append(bias_of(position, q[:, :, :n], hidden[:, :n], **drawn)[..., :12, :12].tril())
        assert torch.allclose(*terms, atol=1e-5)


def test_padding_changes_nothing_in_training():
    position = LatentWindow(16, 8, window=2, absolute="start", **BOTH_ENDS, table_std=1.0)
    q, hidden = torch.randn(1, 8, 12, 2), torch.randn(1, 12, 16)
    visible = causal(12) & (torch.arange(12) >= 3) | torch.eye(12, dtype=torch.bool)
    context = replace(Context.causal(hidden, exploring=True), visible=visible)
    generators = [torch.Generator().manual_seed(0) for _ in range(2)]
    padded = position.bias(q, q, replace(context, generator=generators[0]))
    alone = bias_of(position, q[:, :, 3:], hidden[:, 3:], exploring=True, generator=generators[1])
    assert torch.allclose(padded[..., 3:, 3:].tril(), alone.tril(), atol=1e-5)


def test_decoding_a_token_takes_as_much_memory_at_any_length():
    model = with_anchors(["b=", "="], **BOTH_ENDS, **RECIPE)
    needed = []
    for length in (600, 6000):
        cache, tokens = model.new_cache(), torch.tensor([encode("b" + "1" * length)])
        model(tokens, None, cache, last_tokens(1, length + 1, tokens.device))
        needed.append(peak_memory(partial(model, torch.tensor([[1]]), None, cache)))
    assert needed[0] == needed[1]
