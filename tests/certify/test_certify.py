"""Certificates: machines against tasks, certificates against brute force, planted faults, refusals."""

import copy
import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch

import ldhd as ldhd_package
from contracts.command import ldhd
from ldhd.certify import certify
from ldhd.certify.certificate import _check_drift, find_views, without_heads
from ldhd.certify.contexts import Enumeration, union
from ldhd.certify.heads import RefusedError, read_heads
from ldhd.certify.machines import MACHINES, answer_of, column_at
from ldhd.certify.network import Network, attend
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
    prompts = [f"b{k:0{n}b}=" for n in range(1, 11) for k in range(2**n)]
    assert answers(model, prompts, 11) == [task.read(prompt).answer for prompt in prompts]


def test_the_margin_is_that_of_real_strings(parity):
    """No string has a smaller margin, and some string has it up to rounding."""
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
    assert smallest == pytest.approx(certificate.margin, abs=1e-3)


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


def test_no_bound_is_no_proof(parity):
    """Where a norm could divide by 0 there is no bound: never a margin that counts as right."""
    _, model, _ = parity
    machine = MACHINES["parity"]
    view, forms = next(iter(find_views(machine, heads := read_heads(model, "b=01")).items()))
    attended = attend(model, heads, view)
    contexts = union(Enumeration(machine).contexts(form) for form in forms)
    margins, errors = Network(model).judge(replace(attended, rounding=1e6), contexts)
    assert (margins > 0).all()
    assert (errors == float("inf")).all()
    unmoved, exact = Network(model).judge(attended, contexts, unit=0.0)
    assert (unmoved == margins).all()
    assert (exact < Network(model).judge(attended, contexts)[1]).all()
    _check_drift(Network(model), attended, contexts)
    with pytest.raises(RefusedError, match="not above its bound"):
        _check_drift(Network(model), replace(attended, drift=1e6), contexts)


def test_a_certified_division_is_right_on_every_short_string():
    _, task, model = load_run(Path("division"))
    prompts = [f"b{x}\\{y}=" for x in range(1, 10) for n in (1, 2) for y in range(10 ** (n - 1), 10**n)]
    assert answers(model, prompts, 3) == [task.read(prompt).answer for prompt in prompts]
