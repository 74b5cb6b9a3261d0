"""The explorer in a browser: what its own arithmetic answers is what torch answers, and it needs nothing else."""

import json
from pathlib import Path

import pytest
import torch

from contracts.command import ldhd
from ldhd.evaluate import trace
from ldhd.evaluate.accuracy import sample_test_instances
from ldhd.evaluate.decode import greedy
from ldhd.experiments import RunFolder, load_run, make_config
from ldhd.experiments.loading import new_model
from ldhd.experiments.packaged import MODELS_PATH
from ldhd.files import write_json
from ldhd.report.explorer import EMBEDDINGS, SCALES, write_explorer
from ldhd.tasks.tokens import decode, encode
from ldhd.train import checkpoint
from report.chromium import needs_chromium, wait_for
from report.samples import record_of

LAST_DIGITS = 1e-3
"""How far chances in the browser may be from those of torch, which computes in float32."""


def untrained(folder, position, **settings):
    """A run that was never trained, with weights so large that answers vary."""
    config = make_config("copy", position, seed=3, settings={"model.weight_std": 0.3, **settings}, built=False)
    model = new_model(config)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "position" in name:
                weights.mul_(20)
    run = RunFolder(folder / config.hash)
    write_json(run.config_path, config.model_dump(mode="json"))
    write_json(run.record_path, record_of(config).model_dump(mode="json"))
    checkpoint.save_model(run.weights_path, model, config.hash)
    return run.path


def answered(page):
    """What each model has written, and its chances of the last token."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.model')].map(model => [
             [...model.querySelectorAll('.written b')].map(token => token.textContent).join(''),
             +model.querySelector('.chances').children[2].textContent])"""
    )


def torch_answer(run, prompt):
    """What torch writes to a prompt, and how sure it is of the last token."""
    _, _, model = load_run(run)
    most = 2 * len(prompt) + 12
    written = greedy(model, [encode(prompt)], most)[0]
    with torch.inference_mode():
        logits = model(torch.tensor([[*encode(prompt), *written[:-1]]]))
    return decode(written), float(logits[0, -1].softmax(-1).max())


def type_in(page, prompt):
    page.locator("#prompt").fill(prompt)
    page.locator("#ask button").click()
    wait_for(page, f"document.querySelector('.written .quiet')?.textContent === '{prompt}'")
    wait_for(page, "document.getElementById('told').textContent.startsWith('token')")
    page.evaluate(
        "() => { const s = document.getElementById('step'); s.value = s.max; s.dispatchEvent(new Event('input')); }"
    )


def ask(page, prompt, runs):
    """Type a prompt: each model of the page writes what torch writes with the weights of its run."""
    type_in(page, prompt)
    for run, (written, chance) in zip(runs, answered(page), strict=True):
        expected, sure = torch_answer(run, prompt)
        assert written == expected
        assert chance == pytest.approx(sure, abs=LAST_DIGITS)


@needs_chromium
@pytest.mark.parametrize("position", [name for name in EMBEDDINGS if name != "latent-window"])
def test_what_is_typed_is_answered_as_torch_answers(tmp_path, visit, position):
    """Every embedding, with two layers and with one whose anchors are hard or whose attention reads places alone."""
    other = {"position.rpe-square.hard": True} if position == "rpe-square" else {}
    runs = [
        untrained(tmp_path, position, **{"model.layers": 2}),
        untrained(tmp_path, position, **{"model.layers": 1, "model.mlps": 2, "model.sharpen": 2.0, **other}),
    ]
    write_explorer(runs, tmp_path / "explorer.html")
    page = visit(tmp_path / "explorer.html")
    for prompt in ("b7=", "b31415926=", "b0000000000001="):
        ask(page, prompt, runs)


@needs_chromium
@pytest.mark.parametrize("task", ["copy", "addition-mod10", "multiplication"])
def test_a_packaged_model_answers_beside_another_at_any_length(tmp_path, visit, task):
    runs = [MODELS_PATH / task] * 2
    if task == "copy":
        runs[1] = untrained(tmp_path, "rpe-square+rpe-absolute", **{"position.rpe-absolute.hard": "test"})
    write_explorer([Path(task), runs[1]], tmp_path / "explorer.html")
    page = visit(tmp_path / "explorer.html")
    config, own, _ = load_run(runs[0])
    for scale in (2, 40):
        prompt = sample_test_instances(own, scale, 1, config.seed + 1)[0].prompt
        ask(page, prompt, runs)


@needs_chromium
def test_attention_anchors_and_visible_keys_are_those_of_torch(tmp_path, visit):
    """The strongest head of each token, the anchors of the first head, and no attention outside a window."""
    write_explorer([Path("copy")], tmp_path / "explorer.html")
    page = visit(tmp_path / "explorer.html")
    type_in(page, "b3141592653=")
    _, task, model = load_run(MODELS_PATH / "copy")
    found = trace(model, task.read("b3141592653="))
    query = len(found.instance.text) - 2
    expected = found.attention[0][:, query, : query + 1]
    titles = page.locator(".look title").all_text_contents()
    drawn = {(int(t.split()[1][:-1]), int(t.split()[-1])): float(t.split()[2]) for t in titles}
    assert drawn == {
        (head, i): pytest.approx(float(w), abs=LAST_DIGITS)
        for head, row in enumerate(expected)
        for i, w in enumerate(row)
        if w >= 0.02
    }
    inside = page.evaluate("document.querySelectorAll('.picture .visible').length")
    assert 0 < inside < 8 * query
    anchors = found.anchors[0, 0][0, : query + 1].argmax(-1).tolist()
    distances = [j - a for j, a in enumerate(anchors)]
    shown = page.locator(".picture text.quiet").all_text_contents()
    assert [int(text) for text in shown if text.isdigit()] == distances


@needs_chromium
@pytest.mark.parametrize("width", [1280, 390])
def test_examples_steps_and_words_about_bad_input(tmp_path, visit, width):
    write_explorer([Path("copy")], tmp_path / "explorer.html")
    page = visit(tmp_path / "explorer.html", width)
    page.locator("#example").select_option(label="scale 20, random")
    wait_for(page, "document.querySelectorAll('.written b').length === 21")
    page.locator(".written b").nth(4).click()
    assert page.locator(".written b.here").text_content() == page.locator(".written b").nth(4).text_content()
    assert page.locator(".written b.later").count() == 16
    page.locator(".written b").last.click()
    assert page.locator("#told").inner_text() == "Latent window is right"
    for text, said in (("b12x=", "x is no token"), ("12", "from b to ="), (f"b{'1' * 5000}=", "4000 tokens")):
        page.locator("#prompt").fill(text)
        page.locator("#ask button").click()
        assert said in page.locator("#told").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_what_cannot_be_explored_is_refused_in_one_line(tmp_path, capsys):
    other = untrained(tmp_path, "cope")
    cases = {
        (str(other),): "the explorer cannot compute cope; it has none,",
        ("copy", "parity"): "both runs must be of one task, got copy and parity",
        ("copy", "copy", "copy"): "one run or two, got 3",
        ("absent",): "no run at absent",
    }
    for runs, message in cases.items():
        code, _, error = ldhd(capsys, "explore", *runs, "-o", str(tmp_path / "explorer.html"))
        assert (code, error.count("\n")) == (2, 1)
        assert message in error
    assert not (tmp_path / "explorer.html").exists()


def test_the_command_writes_one_small_file(tmp_path, capsys):
    out = tmp_path / "deep" / "explorer.html"
    code, text, _ = ldhd(capsys, "explore", "copy", "-o", str(out))
    assert (code, text.startswith(f"explorer: {out} (copy latent-window")) == (0, True)
    page = out.read_text()
    assert len(page) < 1_000_000
    examples = json.loads(page.split('id="examples">', 1)[1].split("</script>", 1)[0])
    assert len(examples) > len(SCALES)
    assert all(one["prompt"][1:-1] == one["answer"][:-1] for one in examples)
