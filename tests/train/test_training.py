"""Schedule, data, gradients and checkpoints of the training loop."""

import math
from dataclasses import astuple

import pytest
import torch

from ldhd.model import GPT, ModelConfig
from ldhd.positions import Abacus, LatentWindow, RPESquare
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import PADDING, VOCABULARY_SIZE, decode
from ldhd.train import TrainConfig, checkpoint, new_state, train
from ldhd.train.data import IGNORED, TrainingData, to_tensors
from ldhd.train.diagnosis import diagnosis
from ldhd.train.loop import live_accuracy, schedule, update

COPY = TASKS["copy"]


def tiny_model(position=RPESquare, dropout=0.0):
    torch.manual_seed(5)
    return GPT(ModelConfig(layers=1, heads=2, dimension=16, dropout=dropout), VOCABULARY_SIZE, position)


def config(**options):
    usual = {"steps": 6, "batch_size": 8, "samples": 20, "evaluate_every": 2, "checkpoint_every": 2}
    return TrainConfig(**{**usual, **options})


def test_schedule_warms_up_and_follows_a_cosine():
    c = TrainConfig(steps=100, warmup=0.1)
    assert [schedule(step, c) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert schedule(10, c) == pytest.approx(1.0)
    assert schedule(55, c) == pytest.approx(0.5)
    assert schedule(100, c) == pytest.approx(0.0)
    assert schedule(30, c) == pytest.approx(0.5 * (1 + math.cos(math.pi * 20 / 90)))


def losses(dropout, **options):
    found = []
    train(
        new_state(tiny_model(dropout=dropout), config(**options)),
        COPY,
        (1, 2),
        config(**options),
        seed=3,
        on_step=lambda state, loss: found.append(loss),
    )
    return found


def test_the_fine_tuning_phase_trains_as_in_a_test():
    """Nothing is random in the last steps: with dropout they are what they are without."""
    assert losses(0.5, settle=1.0) == losses(0.0)
    with_dropout, settled = losses(0.5), losses(0.5, settle=0.5)
    assert settled[:3] == with_dropout[:3]
    assert settled[3] != with_dropout[3]


def test_accuracy_at_test_scales_is_measured_only_when_asked():
    for asked in (False, True):
        c = config(steps=2, measure_test_scales=asked)
        state = new_state(tiny_model(), c)
        train(state, COPY, (1, 2), c, seed=3, test_scales=(1, 4))
        (row,) = state.metrics
        assert set(row.get("test_accuracy", {})) == ({"1", "4"} if asked else set())
        if asked:  # the same instances as at the training scales
            assert row["test_accuracy"]["1"] == row["accuracy"]["1"]
    assert "measure_test_scales" not in TrainConfig().model_dump()


def test_schedule_longer_than_training():
    """The paper's copy runs: a cosine over 10000 steps, stopped at 1000."""
    c = TrainConfig(steps=1000, schedule_steps=10_000)
    assert schedule(999, c) > 0.98
    with pytest.raises(ValueError, match="must not be below steps"):
        TrainConfig(steps=100, schedule_steps=99)


def test_targets_are_the_next_tokens_of_the_answer():
    instances = [COPY.read("b12="), COPY.read("b7=")]
    inputs, targets = to_tensors(instances)
    assert decode(inputs[0]) == "b12=12"
    assert targets[0].tolist() == [IGNORED] * 3 + [1, 2, 11]
    assert inputs[1].tolist()[5:] == [PADDING]
    assert targets[1].tolist() == [IGNORED] * 2 + [7, 11, IGNORED, IGNORED]
    whole = to_tensors(instances, loss="sequence")[1]
    assert whole[0].tolist() == [1, 2, 12, 1, 2, 11]


def rows(batch):
    return [decode(token for token in row if token != PADDING) for row in batch[0].tolist()]


def test_every_epoch_sees_every_instance_once():
    data = TrainingData(COPY, (1, 2, 3), config(samples=20, batch_size=8), seed=3)
    seen = [row for index in range(5) for row in rows(data.batch(index))]
    assert sorted(seen[:20]) == sorted(seen[20:])
    assert seen[:20] != seen[20:]


def test_a_batch_depends_on_seed_and_index_only():
    for samples in (20, "endless"):
        forwards, backwards = (TrainingData(COPY, (1, 2), config(samples=samples), seed=3) for _ in range(2))
        a = [forwards.batch(index) for index in range(6)]
        b = [backwards.batch(index) for index in reversed(range(6))][::-1]
        assert all(torch.equal(x[0], y[0]) and torch.equal(x[1], y[1]) for x, y in zip(a, b, strict=True))


def test_endless_data_see_every_scale_equally_often():
    """Batches smaller than the number of scales, too."""
    data = TrainingData(COPY, (1, 2, 3, 4, 5), config(samples="endless", batch_size=4), seed=3)
    scales = [row.index("=") - 1 for index in range(50) for row in rows(data.batch(index))]
    assert [scales.count(scale) for scale in (1, 2, 3, 4, 5)] == [40] * 5


def test_a_batch_may_be_larger_than_the_set():
    data = TrainingData(COPY, (1, 2), config(samples=3, batch_size=10_000), seed=3)
    assert len(data.batch(0)[0]) == 10_000


def test_loss_of_the_whole_sequence():
    data = TrainingData(COPY, (2,), config(loss="sequence"), seed=3)
    assert (data.batch(0)[1] != IGNORED).all()


def step_size(**options):
    """How far one step moves the weights, by the largest change of any."""
    c = config(steps=1, **options)
    model = tiny_model()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    train(new_state(model, c), COPY, (1, 2), c, seed=0)
    return max(float((value - before[name]).abs().max()) for name, value in model.state_dict().items())


def test_the_schedule_sets_the_learning_rate():
    """The first step of AdamW moves weights by about the learning rate, here a tenth of it by warm-up."""
    whole = step_size(learning_rate=0.01, warmup=0.0, weight_decay=0.0, schedule_steps=10_000)
    tenth = step_size(learning_rate=0.01, warmup=0.001, weight_decay=0.0, schedule_steps=10_000)
    assert whole == pytest.approx(0.01, rel=0.05)
    assert tenth == pytest.approx(0.001, rel=0.05)


def test_gradients_are_clipped():
    """AdamW's first moment after one step is a tenth of the clipped gradient."""
    c = config(steps=1, gradient_clip=1e-3)
    state = new_state(tiny_model(), c)
    train(state, COPY, (1, 2), c, seed=0)
    moments = [values["exp_avg"] for values in state.optimizer.state_dict()["state"].values()]
    norm = math.sqrt(sum(float(moment.square().sum()) for moment in moments))
    assert norm == pytest.approx(1e-4, rel=1e-3)


def test_bfloat16_is_used_when_asked_for():
    seen = []
    model = tiny_model()
    model.blocks[0].mlp[0].register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
    c = config(steps=1, precision="bfloat16", evaluate_every=100)
    train(new_state(model, c), COPY, (1, 2), c, seed=0)
    assert seen[0] == torch.bfloat16
    c = config(steps=1, evaluate_every=100)
    train(new_state(model, c), COPY, (1, 2), c, seed=0)
    assert seen[-1] == torch.float32


def test_a_loss_that_blows_up_is_an_error():
    c = config(steps=50, learning_rate=1e30)
    with pytest.raises(FloatingPointError, match=r"lower train\.learning_rate"):
        train(new_state(tiny_model(), c), COPY, (1, 2), c, seed=0)


def test_endless_data_are_fresh():
    data = TrainingData(COPY, (5,), config(samples="endless", batch_size=50), seed=3)
    assert len({row for index in range(10) for row in rows(data.batch(index))}) > 480


def test_weight_decay_is_on_matrices_only():
    state = new_state(tiny_model(), config(weight_decay=0.7))
    for group in state.optimizer.param_groups:
        dimensions = {parameter.dim() for parameter in group["params"]}
        assert group["weight_decay"] == (0 if dimensions == {1} else 0.7)
        assert 1 not in dimensions or dimensions == {1}


def test_accumulation_is_bounded():
    """A stored config cannot ask for a step that never ends."""
    assert TrainConfig(accumulation=1024).accumulation == 1024
    with pytest.raises(ValueError, match="accumulation"):
        TrainConfig(accumulation=1025)


def test_accumulation_equals_a_larger_batch():
    """Two batches of equal answer lengths, averaged, are one batch of twice the size."""
    weights = []
    for options in ({"batch_size": 8, "accumulation": 2}, {"batch_size": 16}):
        state = new_state(tiny_model(), config(steps=2, **options))
        train(state, COPY, (3,), config(steps=2, **options), seed=1)
        weights.append(torch.cat([p.flatten() for p in state.model.parameters()]))
    assert torch.allclose(*weights, atol=1e-5)


def test_the_penalty_is_a_term_of_the_loss_once_for_each_batch():
    """However many parts a batch is run in, their penalties add up to one mean and their gradients to one gradient."""
    found = []
    for options in ({"batch_size": 8, "accumulation": 2}, {"batch_size": 16}):
        options = config(steps=1, samples=16, gradient_clip=1e9, **options)
        # a fixed scale, so that parts are equally long; no random hiding, since parts draw apart
        model = tiny_model(lambda d, h, layer: NeverHiding(d, h, layer, unique=3.0))
        done = update(new_state(model, options), TrainingData(COPY, (3,), options, 1), options, 1, torch.device("cpu"))
        found.append(done)
    for one, other in zip(map(astuple, found), map(astuple, found[1:]), strict=False):
        assert one == pytest.approx(other, rel=1e-4)
    assert found[0].penalty > 0.1
    assert found[0].loss == found[0].cross_entropy + found[0].penalty


class NeverHiding(LatentWindow):
    def _beyond(self, q, context):
        return torch.zeros(1, 1, 1, 1)


def test_metrics_hold_the_terms_of_the_loss():
    for position, penalised in ((LatentWindow, True), (RPESquare, False)):
        c = config(steps=2)
        state = new_state(tiny_model(position), c)
        train(state, COPY, (3,), c, seed=1)
        (row,) = state.metrics
        assert row["loss"] == row["cross_entropy"] + row["penalty"]
        assert (row["penalty"] > 0) == penalised


def test_the_fine_tuning_phase_has_no_penalty():
    c = config(steps=2, settle=1.0)
    state = new_state(tiny_model(LatentWindow), c)
    train(state, COPY, (3,), c, seed=1)
    assert state.metrics[-1]["penalty"] == 0


def test_loss_falls_and_live_accuracy_is_teacher_forced_exact_match():
    c = config(steps=150, batch_size=32, samples="endless", learning_rate=5e-3, evaluate_every=50)
    state = new_state(tiny_model(), c)
    losses = []
    train(state, COPY, (1,), c, seed=0, on_step=lambda state, loss: losses.append(loss))
    assert losses[-1] < 0.3 * losses[0]
    assert [row["step"] for row in state.metrics] == [50, 100, 150]
    assert state.metrics[-1]["accuracy"] == live_accuracy(state.model, COPY, (1,), seed=0)
    assert state.metrics[-1]["accuracy"]["1"] > state.metrics[0]["accuracy"]["1"]


def test_training_leaves_the_global_random_stream_alone():
    torch.manual_seed(9)
    expected = torch.rand(3)
    torch.manual_seed(9)
    c = config()
    train(new_state_of(c), COPY, (1, 2), c, seed=0)
    torch.manual_seed(9)
    state = new_state_of(c)
    torch.manual_seed(9)
    train(state, COPY, (1, 2), c, seed=0)
    assert torch.equal(torch.rand(3), expected)


def new_state_of(c, position=Abacus, dropout=0.2):
    return new_state(tiny_model(position, dropout), c)


def everything(state):
    moments = state.optimizer.state_dict()["state"]
    named = {f"{index}.{name}": value for index, values in moments.items() for name, value in values.items()}
    return {**state.model.state_dict(), **named}


@pytest.mark.parametrize("cut", [1, 3, 5])
def test_resuming_is_bit_exact_with_dropout_and_random_offsets(tmp_path, cut):
    c = config()
    whole = new_state_of(c)
    train(whole, COPY, (1, 2, 3), c, seed=4)
    first = new_state_of(c)
    train(first, COPY, (1, 2, 3), c, seed=4, stop=lambda: first.step >= cut)
    checkpoint.save(tmp_path, first, "run")
    second = new_state_of(c)
    assert checkpoint.restore(tmp_path, second, "run", steps=6)
    assert second.step == cut
    train(second, COPY, (1, 2, 3), c, seed=4)
    expected, found = everything(whole), everything(second)
    assert expected.keys() == found.keys()
    assert [name for name in expected if not torch.equal(expected[name], found[name])] == []
    assert second.metrics == whole.metrics


class TestCheckpoints:
    @pytest.fixture
    def folder(self, tmp_path):
        c = config()
        state = new_state_of(c)
        train(state, COPY, (1, 2), c, seed=0, on_step=lambda state, loss: checkpoint.save(tmp_path, state, "run"))
        return tmp_path

    def test_only_the_newest_two_are_kept(self, folder):
        assert [path.name for path in checkpoint.saved(folder)] == [
            "step-00000005.safetensors",
            "step-00000006.safetensors",
        ]
        assert [path for path in folder.iterdir() if path.name.startswith(".")] == []

    def test_none_at_all_is_a_fresh_start(self, tmp_path):
        assert not checkpoint.restore(tmp_path / "absent", new_state_of(config()), "run", steps=6)

    @pytest.mark.parametrize("damage", ["truncate", "flip", "empty"])
    def test_a_damaged_one_is_passed_over(self, folder, damage):
        newest = checkpoint.saved(folder)[-1]
        content = bytearray(newest.read_bytes())
        if damage == "flip":
            content[-5] ^= 1
        newest.write_bytes({"truncate": content[:-9], "flip": content, "empty": b""}[damage])
        state = new_state_of(config())
        with pytest.warns(UserWarning, match="; going on from step-00000005"):
            assert checkpoint.restore(folder, state, "run", steps=6)
        assert state.step == 5

    def test_no_good_one_left(self, folder):
        for path in checkpoint.saved(folder):
            path.write_bytes(b"nonsense")
        with pytest.warns(UserWarning, match=r"not a whole.*not a whole.*no good checkpoint is left"):
            assert not checkpoint.restore(folder, new_state_of(config()), "run", steps=6)

    def test_of_another_run_or_model(self, folder):
        with pytest.warns(UserWarning, match="belongs to run run, not to other"):
            assert not checkpoint.restore(folder, new_state_of(config()), "other", steps=6)
        with pytest.warns(UserWarning, match="another model"):
            assert not checkpoint.restore(folder, new_state_of(config(), position=RPESquare), "run", steps=6)

    def test_final_weights_are_no_checkpoint(self, folder):
        state = new_state_of(config())
        checkpoint.save_model(folder / "step-00000009.safetensors", state.model, "run")
        with pytest.warns(UserWarning, match="is no checkpoint but something else"):
            assert checkpoint.restore(folder, state, "run", steps=6)
        assert state.step == 6


def test_priming_puts_a_share_of_one_scale_into_the_training_set():
    c = config(samples=200, batch_size=200, priming_share=0.05, priming_scale=5)
    for samples in (200, "endless"):
        data = TrainingData(COPY, (1, 2), c.model_copy(update={"samples": samples}), seed=0)
        lengths = [len(text) for text in rows(data.batch(0))]
        assert {length: lengths.count(length) for length in set(lengths)} == {
            5: 95,
            7: 95,
            12: 10,
        }  # the longest without its e
    with pytest.raises(ValueError, match="go together"):
        config(priming_share=0.1)


def test_priming_has_its_share_even_if_that_is_less_than_one_instance_a_batch():
    c = config(samples="endless", batch_size=10, priming_share=0.03, priming_scale=5)
    data = TrainingData(COPY, (1, 2), c, seed=0)
    lengths = [len(text) for index in range(100) for text in rows(data.batch(index))]
    assert [sum(low <= length <= high for length in lengths) for low, high in ((4, 5), (6, 7), (8, 12))] == [
        485,
        485,
        30,
    ]


def test_metrics_say_how_sharp_the_anchors_are_and_where_attention_goes():
    model = tiny_model()
    uniform = {"anchor_entropy": [[pytest.approx(mean_log(10), abs=1e-5)] * 2]}
    anchor = model.position.anchor
    for parameter in anchor.parameters():
        torch.nn.init.zeros_(parameter)
    found = diagnosis(model, COPY, scale=4, seed=0)
    assert found["anchor_entropy"] == uniform["anchor_entropy"]
    assert set(found["needed"]) == {"x"}
    assert 0 < found["needed"]["x"] < 1


def mean_log(n):
    return sum(math.log(k) for k in range(1, n + 1)) / n


def test_no_anchors_no_entropy():
    assert diagnosis(tiny_model(Abacus), COPY, scale=2, seed=0)["anchor_entropy"] == []
