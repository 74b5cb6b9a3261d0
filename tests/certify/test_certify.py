"""Certificates: machines against tasks, certificates against brute force, planted faults, refusals."""

import copy
import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

import ldhd as ldhd_package
from contracts.command import ldhd
from ldhd.certify import certify
from ldhd.certify.certificate import without_heads
from ldhd.certify.contexts import STATE_BITS, TOKEN_BITS, Enumeration, digits_at, right_tokens, union
from ldhd.certify.heads import read_heads
from ldhd.certify.machines import MACHINES, answer_of, column_at
from ldhd.certify.network import Network, attend
from ldhd.certify.rounding import GELU_CURVATURE, Error, gelu, gelu_slope, normalise, normalised
from ldhd.certify.search import Findings, decide_exactly, find_views
from ldhd.certify.shapes import Shape, form_of, longest_run, look
from ldhd.evaluate.accuracy import answers
from ldhd.experiments import RunFolder, load_run
from ldhd.experiments.config import make_config
from ldhd.experiments.loading import new_model, run_task
from ldhd.experiments.packaged import packaged, run_path
from ldhd.files import BadFileError
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import CHARACTERS, encode


def strings(machine, lengths):
    """Every prompt of these lengths and its answer, as a machine writes them."""
    for start, constants in machine.starts():
        paths = [(start, ("",) * len(lengths), "")]
        for place in range(max(machine.answer_length(lengths), *lengths)):
            paths = [
                (
                    step.state,
                    tuple(t + ("" if d is None else str(d)) for t, d in zip(texts, step.digits, strict=True)),
                    answer if answer.endswith("e") else answer + step.answer,
                )
                for state, texts, answer in paths
                for step in machine.steps(state, column_at(place, lengths))
            ]
        for _, texts, answer in paths:
            numbers = dict(zip(machine.growing, texts, strict=True)) | {k: str(v) for k, v in constants.items()}
            yield "b" + "".join(numbers.get(letter, letter) for letter in machine.layout[1:-1]), answer


@pytest.fixture(scope="module")
def trained():
    """The packaged model that copies; tests change copies of it."""
    _, task, model = load_run(Path("copy"))
    return task, model


@pytest.fixture(scope="module")
def parity():
    _, task, model = load_run(Path("parity"))
    return task, model, certify(model, task)


@pytest.mark.parametrize("name", MACHINES)
def test_machines_write_every_string_of_their_task_and_no_other(name):
    machine, task = MACHINES[name], TASKS[name]
    lengths = [(1, 2), (2, 1)] if name == "addition" else [(n,) * len(machine.growing) for n in (1, 2)]
    for own in lengths:
        written = list(islice(strings(machine, own), 2000))
        assert len(dict(written)) == len(written)
        for prompt, answer in written:
            assert task.read(prompt).answer == answer
    for scale in (1, 2, 7, 30):
        for seed in range(10):
            instance = task.sample(scale, torch.Generator().manual_seed(seed))
            assert answer_of(machine, instance.prompt) == instance.answer


@pytest.mark.parametrize("prompt", ["b00*1=", "b5*10=", "b*1="])
def test_machines_refuse_what_is_no_prompt(prompt):
    with pytest.raises(ValueError, match="no prompt"):
        answer_of(MACHINES["multiplication"], prompt)


def test_longer_strings_have_no_new_view_and_no_new_form(trained):
    """The forms of lengths far beyond the enumerated ones are among the enumerated ones."""
    _, model = trained
    for name in ("copy", "addition"):
        machine = MACHINES[name]
        heads = read_heads(model, "b+=0123456789")
        known = find_views(machine, heads)
        run = longest_run(machine)
        for lengths in [(90,) * len(machine.growing), *([(90, 61), (70, 8)] if name == "addition" else [])]:
            for token in (0, 1, 5, 40, 61, 62, 70, 90):
                if token >= machine.answer_length(lengths):
                    continue
                view, slots = look(machine, Shape(lengths, token), heads)
                assert form_of(machine, Shape(lengths, token), slots, run) in known[view]


def test_a_certified_model_is_right_on_every_short_string(parity):
    task, model, certificate = parity
    assert certificate.verdict == "certified"
    assert certificate.float32
    assert certificate.measured < certificate.bound < certificate.margin
    assert certificate.bound < 0.5
    prompts = [f"b{k:0{n}b}=" for n in range(1, 11) for k in range(2**n)]
    assert answers(model, prompts, 11) == [task.read(prompt).answer for prompt in prompts]


def test_the_margin_is_that_of_real_strings(parity):
    """No string has a smaller margin, and some string has it up to the bound."""
    task, model, certificate = parity
    smallest = float("inf")
    for n in range(1, 8):
        texts = [task.read(f"b{k:0{n}b}=").text for k in range(2**n)]
        tokens = torch.tensor([encode(text) for text in texts])
        with torch.inference_mode():
            logits = model(tokens[:, :-1], exploring=False)[:, n + 1 :]
        right = tokens[:, n + 2 :, None]
        margins = logits.gather(2, right)[..., 0] - logits.scatter(2, right, -torch.inf).amax(2)
        smallest = min(smallest, float(margins.min()))
    assert certificate.margin <= smallest <= certificate.margin + 2 * certificate.bound


def test_one_changed_weight_is_found_and_shown(parity):
    task, model, _ = parity
    broken = copy.deepcopy(model)
    broken.blocks[0].mlp[2].bias.data[5] += 300.0
    found = certify(broken, task)
    assert found.verdict == "counterexample"
    answer = task.read(found.counterexample).answer
    assert answers(broken, [found.counterexample], len(answer)) != [answer]


def test_an_anchor_on_a_digit_is_named(trained):
    task, model = trained
    broken = copy.deepcopy(model)
    key = broken.position.anchor.key
    hidden = broken.blocks[0].attention_norm(broken.tokens.weight)[CHARACTERS.index("7")]
    key.weight.data[3] += 40 * hidden.detach() / hidden.detach().norm() ** 2
    found = certify(broken, task)
    assert found.verdict == "refused"
    assert "head 3 has an anchor on the digit" in found.reason
    assert "7" in found.reason


def test_hidden_keys_must_be_hidden(trained):
    task, model = trained
    broken = copy.deepcopy(model)
    broken.blocks[0].attention.constants.data[:, :, 2] += 6.0
    found = certify(broken, task)
    assert found.verdict == "refused"
    assert "head 2 does not hide keys outside its window" in found.reason


@pytest.mark.parametrize(
    ("position", "settings", "reason"),
    [
        ("rpe-square", {}, "all keys are visible"),
        ("latent-window", {"model.layers": 2}, "2 layers"),
        ("latent-window", {"model.position_only": False}, "position_only"),
        ("latent-window", {"model.null_key": False, "model.null_lead": 0.0}, "no null key"),
        ("latent-window", {"model.log_length": True}, "log_length"),
        ("latent-window", {"position.ends": True}, "from both ends"),
        ("latent-window", {"position.segments": 2}, "which anchor"),
    ],
)
def test_what_cannot_be_certified_is_refused(position, settings, reason):
    config = make_config("copy", position, settings=settings)
    found = certify(new_model(config), run_task(config))
    assert found.verdict == "refused"
    assert reason in found.reason


def test_tasks_without_a_bounded_memory_are_refused(trained):
    _, model = trained
    assert "no machine" in certify(model, TASKS["parity-direct"]).reason


def test_heads_that_do_not_exist_cannot_be_switched_off(trained):
    with pytest.raises(ValueError, match="no head 8"):
        without_heads(copy.deepcopy(trained[1]), [8])


def test_command(capsys):
    code, out, _ = ldhd(capsys, "certify", "parity", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["verdict"] == "certified"
    assert document["run"] == load_run(Path("parity"))[0].hash
    assert {"task", "contexts", "margin", "bound", "assumptions", "counterexample", "reason", "seconds"} <= set(
        document
    )
    code, out, _ = ldhd(capsys, "certify", "parity", "--without-heads", "2")
    assert code == 1
    assert "counterexample b" in out
    code, _, error = ldhd(capsys, "certify", "nowhere")
    assert code == 2
    assert "no run at nowhere" in error


def test_packaged_models_are_shown_by_the_name_of_their_task(capsys):
    code, out, _ = ldhd(capsys, "show", "copy", "b123=", "--json")
    assert code == 0
    assert json.loads(out)["output"] == "123e"


def test_a_certificate_is_stored_beside_the_run_and_shown(capsys, tmp_path):
    """In the report and on the card of an export; a certificate of another run is refused."""
    source = Path(ldhd_package.__file__).parent / "models" / "parity"
    run = tmp_path / "runs" / load_run(Path("parity"))[0].hash
    run.mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "record.json"):
        (run / name).write_bytes((source / name).read_bytes())
    assert ldhd(capsys, "certify", run)[0] == 0
    assert RunFolder(run).certificate().verdict == "certified"
    ldhd(capsys, "report", run.parent, "-o", tmp_path / "report.html")
    assert "certified in float32 for all lengths" in (tmp_path / "report.html").read_text()
    pytest.importorskip("transformers")
    ldhd(capsys, "export", run, tmp_path / "exported")
    assert "certified in float32 for all lengths" in (tmp_path / "exported" / "README.md").read_text()
    kept = RunFolder(run).certificate()
    (run / "model.safetensors").write_bytes((source.parent / "copy" / "model.safetensors").read_bytes())
    with pytest.raises(BadFileError, match="other weights"):
        RunFolder(run).certificate()
    (run / "model.safetensors").unlink()  # dropped, as by `ldhd pack`
    assert RunFolder(run).certificate() == kept
    other = source.parent / "copy" / "certificate.json"
    (run / "certificate.json").write_bytes(other.read_bytes())
    with pytest.raises(BadFileError, match="belongs to run"):
        RunFolder(run).certificate()


@pytest.mark.parametrize("task", packaged())
def test_packaged_certificates_are_about_the_packaged_weights(task):
    folder = RunFolder(run_path(Path(task)))
    assert folder.certificate().verdict == "certified"
    assert folder.config().task == folder.certificate().task == task


def contexts_of(model, machine, number=-1):
    """A view of a model: what it makes of the state, and all of its contexts."""
    heads = read_heads(model, machine.alphabet())
    view, forms = list(find_views(machine, heads).items())[number]
    return attend(model, heads, view), union(Enumeration(machine).contexts(form) for form in forms)


def test_no_bound_is_no_proof(parity):
    """Where a norm could divide by 0 there is no bound: never a margin that counts as right."""
    _, model, _ = parity
    attended, contexts = contexts_of(model, MACHINES["parity"], 0)
    network = Network(model)
    margins, errors = network.judge(replace(attended, rounding=1e6), contexts)
    assert (margins > 0).all()
    assert (errors == float("inf")).all()
    unmoved, exact = network.judge(attended, contexts, unit=0.0)
    assert (unmoved == margins).all()
    assert (exact < network.judge(attended, contexts)[1]).all()
    for drift, wrong, unknown in ((attended.drift, False, None), (1e6, False, "not above its bound")):
        found = decide_exactly(network, replace(attended, drift=drift), contexts, Findings())
        assert bool(len(found[0])) == wrong
        assert (found[1] is None) if unknown is None else unknown in found[1]


def test_digits_that_are_bounded_are_counted_in_the_error(trained):
    """With fewer slots enumerated, no margin of the full contexts is below a bound of theirs."""
    _, model = trained
    network = Network(model)
    attended, contexts = contexts_of(model, MACHINES["copy"])
    contexts = contexts[:: max(1, len(contexts) // 200)]
    slots = len(attended.slots)
    assert slots > 2
    full, errors = network.judge(attended, contexts)
    order = np.argsort(-attended.radii(10)).tolist()
    bounds = []
    for kept in (slots - 1, 1):
        numbers = {slot: rank for rank, slot in enumerate(order[:kept])}
        digits = {rank: digits_at(contexts, slot) for slot, rank in numbers.items()}
        own = right_tokens(contexts) << STATE_BITS
        for rank, values in digits.items():
            own = own | (values << (STATE_BITS + TOKEN_BITS * (rank + 1)))
        margins, bound = network.judge(attended.enumerating(order[:kept], 10), own)
        assert (margins - bound <= full + errors).all()
        bounds.append(bound)
    assert (bounds[1] > bounds[0]).mean() > 0.9


@pytest.mark.parametrize("radius", [1e-6, 1e-3, 1e-2])
def test_no_change_of_the_state_moves_a_margin_beyond_its_bound(trained, radius, monkeypatch):
    """In random directions and in the direction that moves it most, which comes near the bound of small changes."""
    monkeypatch.setattr("ldhd.certify.network.CLEAR", 0.0)  # every bound is the tighter one
    _, model = trained
    network = Network(model)
    attended, contexts = contexts_of(model, MACHINES["copy"])
    contexts = contexts[:: max(1, len(contexts) // 20)]
    margins, bounds = network.judge(replace(attended, drift=radius), contexts, unit=0.0)
    states = torch.from_numpy(attended.states(contexts)).requires_grad_()
    right = torch.from_numpy(right_tokens(contexts))

    def margin_of(x):
        for layer in network.layers:
            x = layer(x)
        logits = normalised(x, network.epsilon) @ network.tokens.T + network.offsets
        return logits.gather(1, right[:, None])[:, 0] - logits.scatter(1, right[:, None], -torch.inf).amax(1)

    exact = margin_of(states)
    assert np.allclose(exact.detach().numpy(), margins)
    (gradient,) = torch.autograd.grad(exact.sum(), states)
    directions = [torch.randn_like(states), torch.randn_like(states), -gradient]
    moved = []
    for direction in directions:
        changed = margin_of(states + radius * direction / direction.norm(dim=1, keepdim=True)) - exact
        moved.append(changed.abs().detach().numpy())
        assert (moved[-1] <= bounds).all()
    if radius < 1e-3:
        assert (bounds < 1.1 * moved[-1]).all()


def test_constants_of_the_bounds():
    """The derivatives of GELU, and what the derivative of a norm leaves out."""
    x = torch.linspace(-12, 12, 100_001, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(gelu(x).sum(), x)
    assert torch.allclose(slope, gelu_slope(x), atol=1e-9)
    assert (slope.diff() / x.diff()).abs().max() < GELU_CURVATURE
    x = torch.randn(500, 8, dtype=torch.float64, requires_grad=True)
    change = 0.3 * torch.randn(500, 8, dtype=torch.float64)
    difference = normalised(x + change, 1e-5) - normalised(x, 1e-5)
    linear = torch.autograd.functional.jvp(lambda x: normalised(x, 1e-5), x, change)[1]
    for error in (
        Error(torch.zeros(500, 0, 1, 8).double(), change.norm(dim=1, keepdim=True)),
        Error(change[:, None, None], torch.zeros(500, 1).double()),
    ):
        norm = normalise(x, error, 1e-5, unit=0.0)
        assert (difference.norm(dim=1) <= norm.error.norm()[:, 0]).all()
        assert ((difference - linear).norm(dim=1) <= norm.added[:, 0]).all()
    assert torch.allclose(norm.error.lines[:, 0, 0], linear)
    gradient = torch.randn(500, 8, dtype=torch.float64)
    (expected,) = torch.autograd.grad((norm.output * gradient).sum(), x)
    assert torch.allclose(norm.back(gradient, torch.arange(500)), expected)


def test_a_certified_division_is_right_on_every_short_string():
    _, task, model = load_run(Path("division"))
    prompts = [f"b{x}\\{y}=" for x in range(1, 10) for n in (1, 2) for y in range(10 ** (n - 1), 10**n)]
    assert answers(model, prompts, 3) == [task.read(prompt).answer for prompt in prompts]
