"""Decoding and scoring, against a model that knows the answers."""

from functools import partial

import pytest
import torch

from ldhd.bench.memory import peak_memory
from ldhd.evaluate import evaluate, greedy, score, trace
from ldhd.evaluate.accuracy import answers, decoding_memory
from ldhd.evaluate.decode import pad
from ldhd.experiments import make_config
from ldhd.experiments.loading import new_model
from ldhd.model import GPT, ModelConfig
from ldhd.positions import RPE, Rotary, RPESquare, Sum
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import PADDING, VOCABULARY_SIZE, decode, encode

COPY = TASKS["copy"]


class Oracle(GPT):
    """Continues every string of copy as `write(prompt)` says; it reads its whole row at every step."""

    def __init__(self, write):
        super().__init__(ModelConfig(layers=1, heads=1, dimension=2), VOCABULARY_SIZE, RPE)
        self.write = write

    def new_cache(self):
        return []

    def forward(self, tokens, valid=None, cache=None, packing=None):
        if cache is not None:
            cache.append(tokens)
            tokens = torch.cat(cache, dim=1)
        logits = torch.zeros(*tokens.shape, VOCABULARY_SIZE)
        for row, ids in enumerate(tokens.tolist()):
            text = decode(token for token in ids if token != PADDING)
            prompt, written = text[: text.index("=") + 1], text[text.index("=") + 1 :]
            answer = self.write(prompt) + "e" * 50
            logits[row, -1, encode(answer[len(written)])[0]] = 1
        return logits if packing is None else logits[:, -1]


def right(prompt):
    return prompt[1:-1] + "e"


def test_a_model_that_knows_the_answers_is_perfect():
    result = evaluate(Oracle(right), COPY, 7, 300, seed=0)
    assert (result.scale, result.n, result.exact, result.per_token) == (7, 300, 1.0, 1.0)
    assert result.per_position == [1.0] * 8
    assert result.high == pytest.approx(1.0)
    assert result.low == pytest.approx(0.987, abs=1e-3)


def test_the_end_counts():
    """A model that writes one digit too many is never exact, and only its last token is wrong."""
    result = evaluate(Oracle(lambda prompt: right(prompt).replace("e", "0")), COPY, 3, 50, seed=0)
    assert result.exact == 0
    assert result.per_position == [1.0, 1.0, 1.0, 0.0]
    assert result.per_token == 0.75


def test_stopping_early_makes_the_rest_wrong():
    result = evaluate(Oracle(lambda prompt: right(prompt)[:2] + "e"), COPY, 4, 50, seed=0)
    assert result.per_position[:2] == [1.0, 1.0]
    assert result.per_position[2:] == [0.0, 0.0, 0.0]


def test_answers_of_several_lengths_are_scored_where_they_have_a_token():
    addition = TASKS["addition"]
    instances = [addition.read("b9+1="), addition.read("b2+3=")]
    result = score(Oracle(lambda prompt: addition.read(prompt).answer), addition, instances)
    assert result.per_position == [1.0, 1.0, 1.0]
    assert result.exact == 1.0


def test_every_model_is_asked_the_same_questions():
    asked = []

    def keep(prompt):
        asked[-1].append(prompt)
        return right(prompt)

    for _ in range(2):
        asked.append([])
        evaluate(Oracle(keep), COPY, 5, 20, seed=3)
    assert asked[0] == asked[1]


def test_padding():
    tokens, valid = pad([[1, 2, 3], [4]], "left", torch.device("cpu"))
    assert tokens.tolist() == [[1, 2, 3], [PADDING, PADDING, 4]]
    assert valid.tolist() == [[True] * 3, [False, False, True]]
    assert pad([[1, 2], [4]], "right", torch.device("cpu"))[0].tolist() == [[1, 2], [4, PADDING]]


def test_decoding_ends_at_e():
    oracle = Oracle(right)
    assert [decode(row) for row in greedy(oracle, [encode("b12="), encode("b3=")], 9)] == ["12e", "3e"]
    with pytest.raises(ValueError, match="padding on the left"):
        greedy(oracle, [encode("b1=")], 3, padding="right")


def tiny(position):
    torch.manual_seed(0)
    return GPT(ModelConfig(layers=2, heads=2, dimension=16, null_key=True), VOCABULARY_SIZE, position).eval()


def test_trace_finds_the_first_error_and_the_weights():
    traced = trace(tiny(RPESquare), COPY.read("b407="))
    assert traced.instance.answer == "407e"
    assert traced.first_error is not None
    assert traced.output[: traced.first_error] == "407e"[: traced.first_error]
    assert [layer.shape for layer in traced.attention] == [(2, 8, 8)] * 2
    assert {place: weights.shape for place, weights in traced.anchors.items()} == dict.fromkeys(
        [(0, 0), (1, 0)], (2, 8, 8)
    )
    assert torch.allclose(traced.anchors[0, 0].sum(-1), torch.ones(2, 8))


def test_the_document_of_a_trace_holds_the_rows_that_write_the_answer():
    traced = trace(tiny(lambda *size: Sum([RPE(*size), RPESquare(*size)])), COPY.read("b407="))
    written = traced.document(COPY.needs(traced.instance), "rpe+rpe-square")
    assert (written["text"], written["prompt"], written["scale"]) == ("b407=407e", 5, 3)
    assert [(anchor["layer"], anchor["term"]) for anchor in written["anchors"]] == [
        (0, "rpe-square"),
        (1, "rpe-square"),
    ]
    for kind, whole in (("attention", traced.attention), ("terms", traced.terms)):
        rows = torch.tensor(written[kind])
        assert rows.shape == (2, 2, 4, 8)
        assert torch.allclose(rows, torch.stack(whole)[:, :, 4:].to(rows), atol=6e-4)
    assert torch.equal(torch.stack(traced.terms).triu(1), torch.zeros(2, 2, 8, 8))


def test_an_embedding_that_adds_nothing_to_the_logits_leaves_no_term():
    traced = trace(tiny(Rotary), COPY.read("b40="))
    assert traced.terms == []
    assert len(traced.attention) == 2


def test_results_of_tasks_that_carry_say_how_each_length_of_carry_fares():
    addition = TASKS["addition"]
    wrong_after_long_carries = Oracle(lambda prompt: addition.read(prompt).answer.replace("001", "991"))
    result = score(wrong_after_long_carries, addition, [addition.read("b99+1="), addition.read("b12+1=")])
    assert result.carries == [(0, 0, 1, 2), (1, 0, 1, 1), (1, 1, 0, 1), (2, 0, 1, 1), (2, 2, 1, 1), (3, 0, 1, 1)]
    assert score(Oracle(lambda prompt: COPY.read(prompt).answer), COPY, [COPY.read("b1=")]).carries is None


def test_trace_reads_the_attention_of_the_query_before_each_token():
    traced = trace(tiny(RPE), COPY.read("b40="))
    slots = traced.slots(COPY.needs(traced.instance))
    # the query of answer token 0 is `=` at index 3, of token 1 the first digit written
    assert slots[0]["x"] == pytest.approx(max(float(layer[:, 3, 1].max()) for layer in traced.attention))
    assert slots[1]["x"] == pytest.approx(max(float(layer[:, 4, 2].max()) for layer in traced.attention))
    assert slots[2]["x"] is None
    assert traced.anchors == {}


def test_trace_leaves_no_hooks_behind():
    model = tiny(RPESquare)
    trace(model, COPY.read("b1="))
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize(
    ("position", "layers"), [("rope", 2), ("rpe-absolute", 1), ("rpe-square+rpe-absolute", 1), ("rpe-square", 2)]
)
def test_what_does_not_fit_into_memory_is_refused_before_it_starts(position, layers):
    model = new_model(make_config("copy", position, model="small", settings={"model.layers": layers}))
    with pytest.raises(ValueError, match="decoding a string of 200002 tokens would need"):
        answers(model, ["b" + "1" * 100_000 + "="], 100_000)


@pytest.mark.parametrize("position", ["latent-window", "rope", "rpe-square", "none"])
def test_memory_of_decoding_grows_with_the_length_as_estimated(position):
    """With one layer no tensor has an entry for each pair of tokens, not even while the prompt is read."""
    model = new_model(make_config("copy", position, model="small", settings={"model.layers": 1}))
    needed = [peak_memory(partial(greedy, model, [encode("b" + "1" * n + "=")], 9)) for n in (500, 2000)]
    assert needed[1] < 4.2 * needed[0]
    estimates = [decoding_memory(model, n + 11) for n in (500, 2000)]
    assert all(estimate / 3 < own < estimate for own, estimate in zip(needed, estimates, strict=True))
