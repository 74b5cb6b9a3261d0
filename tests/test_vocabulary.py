"""A task with tokens of its own, from its strings to training, predictions, the report and what can be exported."""

import json
import sys
from pathlib import Path

import pytest
import torch

from contracts import hub  # noqa: F401
from contracts.command import ldhd
from ldhd.experiments import load_run
from ldhd.experiments.config import make_config
from ldhd.experiments.parts import build_position, load_task, position_options
from ldhd.predict import predict
from ldhd.tasks import TASKS, LatentSpace, Task, Vocabulary, digits
from ldhd.tasks.contract import generator, problems
from ldhd.tasks.copy import CopyFormat, Strings, identity
from ldhd.tasks.successor import SuccessorFormat

LISTS = '''
from ldhd.tasks import Format, Task, Vocabulary, digits
from ldhd.tasks.copy import Strings, identity


class Lists(Format):
    """The letters of a list, with commas between them."""

    vocabulary = Vocabulary("ACDFGHIJKLMN", ",")

    def prompt(self, latent):
        return f"b{','.join(self.vocabulary.write([x]) for x in latent)}="

    def answer(self, latent, label):
        return f"{self.vocabulary.write(label)}e"

    def read(self, prompt):
        letters = digits.inside(prompt, "bA,C,D=").split(",")
        return tuple(self.vocabulary.values(letter, "a letter")[0] for letter in letters if self.one(letter, prompt))

    def one(self, letter, prompt):
        if len(letter) != 1:
            raise ValueError(f"there is one letter between two commas, got {prompt!r}")
        return True

    def needs(self, latent, label):
        n = len(latent)
        return [{"x": 1 + 2 * t if t < n else None} for t in range(n + 1)]


LIST = Task("list", Strings(12), identity, Lists())


class Colors(Lists):
    vocabulary = Vocabulary("RGB", ",", words={"R": "red", "G": "green", "B": "blue", ",": "and", "e": "stop"})


COLORS = Task("colors", Strings(3), identity, Colors())
'''

SHORT = ("--steps", "2", "--train-scales", "1-2", "--test-scales", "1-3", "--workers", "1", "--out", "runs")
SHORT += ("--set", "test_instances=2", "--set", "train.batch_size=4", "--set", "train.samples=20")


@pytest.fixture(autouse=True)
def _there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("lists.py").write_text(LISTS)
    yield
    sys.modules.pop("lists", None)


def trained(capsys, name, position="rpe"):
    code, _, error = ldhd(capsys, "run", name, "--position", position, *SHORT)
    assert code == 0, error
    (folder,) = [path.parent for path in Path("runs").glob("*/record.json")]
    return folder


@pytest.mark.parametrize("name", ["lists:LIST", "lists:COLORS"])
def test_it_keeps_the_contract(name):
    assert problems(load_task(name)) == []


def test_a_run_has_as_many_tokens_as_its_task(capsys):
    folder = trained(capsys, "lists:LIST", "rpe-square+abacus")
    config, task, model = load_run(folder, trust=True)
    assert model.tokens.num_embeddings == task.vocabulary.size == 12 + 3 + 1 + 1
    assert config.position_options["abacus"]["digit_tokens"] == 12
    assert set(json.loads((folder / "trace.json").read_text())["text"]) <= set(task.vocabulary.characters)
    assert ldhd(capsys, "evaluate", folder, "--test-scales", "4", "--instances", "2", "--trust")[0] == 0
    code, out, _ = ldhd(capsys, "show", folder, "bA,N=", "--trust")
    assert code == 0
    assert "answer  ANe" in out
    code, _, error = ldhd(capsys, "show", folder, "bA,5=", "--trust")
    assert code == 2
    assert "a letter must be one or more of ACDFGHIJKLMN, got '5'" in error
    assert ldhd(capsys, "report", "runs", "--trust")[0] == 0
    code, out, _ = ldhd(capsys, "certify", folder, "--trust")
    assert code == 1
    assert "refused: list has tokens of its own, and machines read 0123456789be=+*\\ alone" in out


def test_runs_with_the_usual_tokens_stay_as_they_are():
    assert make_config("copy", "abacus").hash == "c0339732462c"
    assert make_config("copy", "abacus").position_options["abacus"]["digit_tokens"] == 10


def test_digits_of_another_base_are_predicted_as_those_of_base_ten():
    """Which symbols there are is of no account for a prediction."""

    class Letters(CopyFormat):
        vocabulary = Vocabulary("ACDFGHIJKLMN")
        prompt = staticmethod(lambda latent: f"b{Letters.vocabulary.write(latent)}=")
        answer = staticmethod(lambda latent, label: f"{Letters.vocabulary.write(label)}e")

    letters = Task("letters", Strings(12), identity, Letters())
    for position in ("rpe", "rpe-square", "alibi"):
        embedding = build_position(position, position_options(position, {}))
        mine, theirs = (predict(task, embedding, (1, 2, 3), range(1, 7), 2) for task in (letters, TASKS["copy"]))
        assert mine.verdict == theirs.verdict
        assert mine.slots == theirs.slots


def test_numbers_of_another_base():
    """The number after a number, in base 16."""

    class Hexadecimal(SuccessorFormat):
        vocabulary = Vocabulary("0123456789ABCDEF")
        prompt = staticmethod(lambda latent: f"b{Hexadecimal.vocabulary.write(latent)}=")
        answer = staticmethod(lambda latent, label: f"{Hexadecimal.vocabulary.write(label)}e")
        read = staticmethod(lambda prompt: Hexadecimal.vocabulary.values(prompt[1:-1], f"the number {prompt!r}"))

    class Numbers(LatentSpace):
        def sample(self, scale, generator):
            return digits.number(scale, generator, 16)

        def scale(self, latent):
            return len(latent)

        def longest(self, scale):
            return (15,) * scale

    task = Task("hexadecimal", Numbers(), lambda latent: digits.add(latent, (1,), 16), Hexadecimal())
    assert problems(task) == []
    for instance in [*(task.sample(5, generator(seed)) for seed in range(20)), task.instance((15, 15, 2))]:
        number, following = (int(text[::-1], 16) for text in (instance.prompt[1:-1], instance.answer[:-1]))
        assert following == number + 1


def test_words_are_read_and_written(capsys):
    folder = trained(capsys, "lists:COLORS")
    code, out, _ = ldhd(capsys, "show", folder, "b red and blue =", "--trust")
    assert code == 0
    assert "prompt  b red and blue =" in out
    assert "answer  red blue stop" in out
    code, out, _ = ldhd(capsys, "tasks", "lists:COLORS", "--scale", "2", "--count", "1")
    assert code == 0
    assert " and " in out
    assert "stop" in out


@pytest.mark.parametrize(("name", "prompt"), [("lists:LIST", "bA,N="), ("lists:COLORS", "b red and blue =")])
def test_it_is_exported_with_its_tokens(capsys, name, prompt):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = trained(capsys, name)
    code, _, error = ldhd(capsys, "export", folder, "model", "--lm-eval", "--trust")
    assert code == 0, error
    _, task, model = load_run(folder, trust=True)
    tokenizer, exported = AutoTokenizer.from_pretrained("model"), AutoModelForCausalLM.from_pretrained("model")
    tokens = tokenizer([prompt], return_tensors="pt").input_ids
    assert tokens.tolist() == [task.vocabulary.encode(task.vocabulary.parse(prompt))]
    assert tokenizer.decode(tokens[0]) == prompt
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (task.vocabulary.end, task.vocabulary.padding)
    with torch.no_grad():
        assert torch.allclose(exported(tokens).logits, model(tokens), atol=1e-5)
    asked = [json.loads(line) for line in Path("model/scale_2.jsonl").read_text().splitlines()]
    for line in asked:
        text = task.vocabulary.parse(line["prompt"])
        assert task.vocabulary.parse(line["answer"]) + "e" == task.read(text).answer
