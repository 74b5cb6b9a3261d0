"""An exported run is the run: same logits, same strings, through every door of transformers."""

import json
import os
import re
import subprocess
import sys

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, pipeline

import ldhd
from contracts import command
from contracts.hub import trained
from ldhd.evaluate import greedy
from ldhd.evaluate.accuracy import sample_test_instances
from ldhd.hf import LdhdForCausalLM, export_run
from ldhd.positions import POSITIONS
from ldhd.tasks.tokens import decode, encode


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "model"
    export_run(run, path)
    return path


@pytest.fixture(scope="module")
def loaded(folder):
    return AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


def prompts(run, scales, count):
    config, task, _ = ldhd.load_run(run)
    return [instance.prompt for scale in scales for instance in sample_test_instances(task, scale, count, config.seed)]


def written(model, tokenizer, texts, **options):
    """What is generated after each prompt, as text up to `e`."""
    inputs = tokenizer(texts, return_tensors="pt", padding=True)
    rows = model.generate(**inputs, max_new_tokens=8, **options)[:, inputs.input_ids.shape[1] :]
    return [tokenizer.decode(row, skip_special_tokens=True) for row in rows]


FRESH = """
import sys
for name in ("ldhd", "jaxtyping", "pydantic"):
    sys.modules[name] = None  # as if it were not installed
import json, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, texts = sys.argv[1], json.loads(sys.argv[2])
model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
inputs = tokenizer(texts, return_tensors="pt", padding=True)
with torch.no_grad():
    logits = model(torch.arange(16)[None]).logits
rows = model.generate(**inputs, max_new_tokens=8)[:, inputs.input_ids.shape[1]:]
print(json.dumps({"logits": logits.tolist(), "written": tokenizer.batch_decode(rows, skip_special_tokens=True)}))
"""


@pytest.mark.parametrize("position", [*POSITIONS, "rpe-square+rpe-absolute"])
def test_logits_are_those_of_the_run(position, tmp_path):
    run = trained(tmp_path / "runs", position, steps=2, test_instances=2)
    _, _, model = ldhd.load_run(run)
    again = LdhdForCausalLM.from_pretrained(export_run(run, tmp_path / "model")[0]["folder"])
    tokens = torch.arange(16)[None]
    with torch.no_grad():
        torch.testing.assert_close(again(tokens).logits, model(tokens), rtol=0, atol=1e-6)


def test_a_fresh_process_without_ldhd_writes_the_same(run, folder, loaded, tmp_path):
    texts = prompts(run, (1, 4), 3)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PYTHONPATH": ""}
    command = [sys.executable, "-c", FRESH, str(folder), json.dumps(texts)]
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, cwd=tmp_path)
    answer = json.loads(found.stdout.splitlines()[-1])
    _, _, model = ldhd.load_run(run)
    with torch.no_grad():
        expected = model(torch.arange(16)[None])
    torch.testing.assert_close(torch.tensor(answer["logits"]), expected, rtol=0, atol=1e-6)
    assert answer["written"] == written(*loaded, texts)


def test_greedy_strings_are_those_of_ldhd_in_batches_of_1_and_16(run, loaded):
    _, _, model = ldhd.load_run(run)
    texts = prompts(run, (1, 2, 3, 5), 4)
    alone = [decode(greedy(model, [encode(text)], 8)[0]).removesuffix("e") for text in texts]
    assert len(set(alone)) > 8
    assert [written(*loaded, [text])[0] for text in texts] == alone
    assert written(*loaded, texts) == alone
    assert written(*loaded, texts, use_cache=False) == alone


BEAMS = {"num_beams": 2, "num_return_sequences": 2}


@pytest.mark.parametrize("options", [{"num_beams": 3}, {"do_sample": True}, BEAMS])
def test_beams_and_samples_are_the_same_with_and_without_a_cache(run, loaded, options):
    texts = prompts(run, (1, 5), 3)
    torch.manual_seed(0)
    with_cache = written(*loaded, texts, **options)
    torch.manual_seed(0)
    assert written(*loaded, texts, use_cache=False, **options) == with_cache


def test_pipeline(folder, loaded):
    model, tokenizer = loaded
    (answer,) = pipeline("text-generation", model=str(folder))("b12=", max_new_tokens=8, do_sample=False)
    assert answer["generated_text"] == "b12=" + written(model, tokenizer, ["b12="])[0]


def test_a_cache_goes_on_where_it_stopped(loaded):
    model, _ = loaded
    tokens = torch.tensor([encode("b123=12")])
    with torch.no_grad():
        first = model(tokens[:, :4])
        rest = model(tokens[:, 4:], past_key_values=first.past_key_values)
        torch.testing.assert_close(rest.logits, model(tokens).logits[:, 4:])


def test_half_precision_is_refused(folder):
    with pytest.raises(ValueError, match=r"computes in float32, not in torch\.bfloat16; use dtype=torch\.float32"):
        LdhdForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)(torch.arange(4)[None])


def test_trainer_goes_on_training(folder, tmp_path):
    model = LdhdForCausalLM.from_pretrained(folder)
    rows = [{"input_ids": encode("b12=12e"), "labels": [-100] * 4 + encode("12e")}] * 8
    before = model.gpt.blocks[0].attention.position.table.clone()
    arguments = TrainingArguments(str(tmp_path), max_steps=2, use_cpu=True, report_to=[], save_strategy="no")
    Trainer(model=model, args=arguments, train_dataset=rows).train()
    assert not torch.equal(model.gpt.blocks[0].attention.position.table, before)
    model.save_pretrained(tmp_path / "on")
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "on").eval()
    with torch.no_grad():
        tokens = torch.arange(16)[None]
        assert torch.equal(again(tokens).logits, model.eval()(tokens).logits)


def test_card_shows_the_task_and_every_scale(run, folder):
    card = (folder / "README.md").read_text()
    record = json.loads((run / "record.json").read_text())
    assert "pipeline_tag: text-generation" in card
    assert "`b x_0 ... x_{n-1} = x_0 ... x_{n-1} e`" in card
    for result in record["results"]:
        scale = f"**{result['scale']}**" if result["scale"] in record["train_scales"] else result["scale"]
        assert f"| {scale} | 20 | {100 * result['exact']:.1f} |" in card
    assert (folder / "accuracy.png").read_bytes().startswith(b"\x89PNG")
    assert {path.suffix for path in folder.iterdir()} == {".json", ".md", ".png", ".py", ".safetensors"}


def test_the_folders_code_names_no_other_package_than_torch_and_transformers(folder):
    for path in folder.glob("*.py"):
        named = set(re.findall(r"^(?:from|import) ([a-z_]+)", path.read_text(), re.M))
        assert named - sys.stdlib_module_names <= {"torch", "transformers"}, path


def ldhd_export(capsys, *arguments):
    return command.ldhd(capsys, "export", *arguments)


def test_command(run, tmp_path, capsys):
    code, out, err = ldhd_export(capsys, run, tmp_path / "model", "--test-scales", "2,4", "--instances", "3", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["folder"] == str(tmp_path / "model")
    assert [(result["scale"], result["n"]) for result in document["results"]] == [(2, 3), (4, 3)]
    assert "| 4 | 3 |" in (tmp_path / "model" / "README.md").read_text()


def test_wrong_use_is_refused_in_one_line(run, tmp_path, capsys):
    (tmp_path / "there").mkdir()
    code, out, err = ldhd_export(capsys, run, tmp_path / "there")
    assert (code, out) == (2, "")
    assert err == f"ldhd: error: {tmp_path / 'there'} exists already; export writes a new folder\n"
    assert ldhd_export(capsys, tmp_path / "nothing", tmp_path / "new")[2].startswith("ldhd: error: no run at")
    assert list(tmp_path.iterdir()) == [tmp_path / "there"]


def test_a_table_that_is_too_short_is_refused(tmp_path, capsys):
    run = trained(tmp_path / "runs", "absolute", steps=2, test_instances=2, **{"position.table_size": 14})
    code, _, err = ldhd_export(capsys, run, tmp_path / "model", "--test-scales", "9")
    assert (code, err.count("\n")) == (2, 1)
    assert "longer than the table of 14; raise table_size" in err
    assert not (tmp_path / "model").exists()
    model = LdhdForCausalLM.from_pretrained(export_run(run, tmp_path / "model")[0]["folder"])
    with pytest.raises(ValueError, match="absolute: position 14 is beyond the table of 14"):
        model(torch.zeros(1, 15, dtype=torch.long))


def test_an_embedding_of_the_users_own_is_refused(tmp_path, monkeypatch):
    (tmp_path / "my_rpe.py").write_text("from ldhd.positions import RPE\nclass Mine(RPE):\n    pass\n")
    monkeypatch.chdir(tmp_path)
    run = trained(tmp_path / "runs", "my_rpe:Mine", steps=2, test_instances=2)
    with pytest.raises(ValueError, match="my_rpe:Mine is no embedding of ldhd and cannot be exported"):
        export_run(run, tmp_path / "model", trust=True)


def test_a_missing_extra_is_said_in_one_line():
    code = "import sys; sys.modules['transformers'] = None; from ldhd.cli import main; main(['export', 'a', 'b'])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 2
    assert found.stderr == "ldhd: error: transformers is not installed; in the folder of ldhd: pip install -e '.[hf]'\n"
