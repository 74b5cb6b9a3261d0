"""GPT-2 with another position embedding trains, decodes and is saved as before."""

import copy

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    DynamicCache,
    GPT2Config,
    GPT2LMHeadModel,
    OPTConfig,
    OPTForCausalLM,
    Trainer,
    TrainingArguments,
)

from contracts import hub  # noqa: F401
from ldhd.bench.hugging_face import translate
from ldhd.experiments.parts import build_model, position_options
from ldhd.hf import character_tokenizer, swap_position
from ldhd.model import ModelConfig
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import PADDING, VOCABULARY_SIZE

SWAPS = [
    ("rpe-square", {}),
    ("rpe-square", {"projections": "separate", "max_distance": 12}),
    # small scores, so that equal tokens are told apart by their place and not by rounding
    ("rpe-square", {"projections": "shared", "hard": True, "anchor_scale": 0.02}),
    ("latent-window", {"absolute": "start"}),
    ("rpe", {}),
    ("rope", {}),
    ("alibi", {}),
    ("none", {}),
    ("rpe-square+rpe-absolute", {}),
    ("fire", {"threshold": 5.0}),
    ("randomized-rope", {}),
    ("randomized-fire+rpe", {}),
]


def gpt2(**options):
    given = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 8, "vocab_size": VOCABULARY_SIZE}
    given |= {"bos_token_id": 10, "eos_token_id": None, "pad_token_id": PADDING}
    return GPT2LMHeadModel(GPT2Config(**{**given, "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, **options}))


def wild(model):
    """Weights large enough that what is written depends on everything."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.4 * torch.randn_like(parameter))
    return model.eval()


@pytest.fixture
def rows():
    return [torch.randint(PADDING, (length,)).tolist() for length in (3, 7, 12)]


def padded(rows):
    length = max(map(len, rows))
    tokens = torch.tensor([[PADDING] * (length - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in rows])
    return {"input_ids": tokens, "attention_mask": mask}


def generated(model, inputs, **options):
    return model.generate(**inputs, max_new_tokens=10, **options)[:, inputs["input_ids"].shape[1] :].tolist()


@pytest.mark.parametrize(("position", "options"), SWAPS)
def test_it_is_ldhds_gpt_with_the_same_weights(position, options):
    theirs = wild(swap_position(gpt2(), position, **options))
    state = theirs.state_dict()
    ours = build_model(ModelConfig(layers=2, heads=4, dimension=32), position, position_options(position, options))
    translated = translate({**state, "transformer.wpe.weight": torch.zeros(1)}, 2)
    translated |= {
        name.replace("transformer.h.", "blocks.").replace(".attn.", ".attention."): value
        for name, value in state.items()
        if ".position." in name
    }
    ours.load_state_dict({name: value for name, value in translated.items() if name in ours.state_dict()})
    tokens = torch.randint(PADDING, (2, 11))
    with torch.no_grad():
        torch.testing.assert_close(theirs(tokens).logits, ours.eval()(tokens), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("position", "options"), SWAPS)
def test_decoding_needs_neither_a_cache_nor_a_batch_without_padding(position, options, rows):
    model = wild(swap_position(gpt2(), position, **options))
    alone = [generated(model, padded([row]), use_cache=False)[0] for row in rows]
    assert generated(model, padded(rows)) == alone
    assert [generated(model, padded([row]))[0] for row in rows] == alone
    beams = generated(model, padded(rows), num_beams=3)
    assert generated(model, padded(rows), num_beams=3, use_cache=False) == beams


@pytest.mark.parametrize(("position", "options"), SWAPS)
def test_it_is_saved_and_loaded(position, options, rows, tmp_path):
    model = wild(swap_position(gpt2(), position, **options))
    model.save_pretrained(tmp_path)
    again = AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        assert torch.equal(again(**padded(rows)).logits, model(**padded(rows)).logits)
    assert generated(again, padded(rows)) == generated(model, padded(rows))


def test_other_weights_are_kept_and_the_table_is_gone():
    model = gpt2()
    before = copy.deepcopy(model.state_dict())
    swapped = swap_position(model, "rpe-square", max_distance=3)
    assert swapped is model
    after = model.state_dict()
    assert before.keys() - after.keys() == {"transformer.wpe.weight"}
    for name in before.keys() & after.keys():
        assert torch.equal(before[name], after[name])
    assert model.transformer.h[1].attn.position.table.shape == (4, 7, 8)


def test_none_is_gpt2_whose_table_is_zero():
    model = gpt2(n_positions=16).eval()
    model.transformer.wpe.weight.data.zero_()
    tokens = torch.randint(PADDING, (2, 9))
    with torch.no_grad():
        expected = model(tokens).logits
        torch.testing.assert_close(swap_position(model, "none")(tokens).logits, expected)


def test_swapping_twice_leaves_the_second():
    tokens = torch.randint(PADDING, (2, 9))
    torch.manual_seed(1)
    once = swap_position(gpt2(), "alibi").eval()
    torch.manual_seed(1)
    twice = swap_position(swap_position(gpt2(), "rope"), "alibi").eval()
    with torch.no_grad():
        assert torch.equal(once(tokens).logits, twice(tokens).logits)


def test_gradients_reach_the_embedding():
    model = swap_position(gpt2(), "rpe-square+rpe-absolute").train()
    tokens = torch.randint(PADDING, (2, 9))
    model(tokens, labels=tokens).loss.backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in model.parameters())


def test_a_loss_from_labels_holds_the_penalty_on_repeated_anchors():
    """In training alone, as a term that the gradient knows; the other terms are those of a model without it."""
    tokens = torch.tensor([[10, 1, 2, 1, 12, 1, 2, 1]])
    losses, gradients = [], []
    for unique in (0.0, 5.0):
        torch.manual_seed(0)
        model = swap_position(gpt2(n_layer=1), "latent-window", unique=unique).train()
        torch.manual_seed(1)
        losses.append(model(tokens, labels=tokens).loss)
        losses[-1].backward()
        gradients.append(model.transformer.h[0].attn.position.anchor.key.weight.grad)
        with torch.no_grad():
            assert model.eval()(tokens, labels=tokens, return_dict=False)[0].isfinite()
    assert losses[1] > losses[0] + 1
    assert not torch.allclose(*gradients)


def test_random_ids_are_drawn_once_for_queries_and_keys():
    model = wild(swap_position(gpt2(n_layer=1), "randomized-rope")).train()
    position = model.transformer.h[0].attn.position
    drawn, ids = [], position.ids
    position.ids = lambda *given: drawn.append(ids(*given)) or drawn[-1]
    model(torch.randint(PADDING, (2, 9)))
    assert len(drawn) == 1


def test_gpt2_learns_copy_with_rpe_square_by_trainer(tmp_path):
    """The set-up of the paper, small: its GPT-2 with RPE-Square learns the scales it is trained on."""
    task, tokenizer = TASKS["copy"], character_tokenizer()
    model = swap_position(gpt2(n_embd=64, eos_token_id=tokenizer.eos_token_id), "rpe-square")
    stream = torch.Generator().manual_seed(0)

    def row(instance):
        tokens = tokenizer(instance.text).input_ids
        return {"input_ids": tokens, "labels": [-100] * len(instance.prompt) + tokens[len(instance.prompt) :]}

    def batch(chosen):
        inputs = padded([row["input_ids"] for row in chosen])
        length = inputs["input_ids"].shape[1]
        labels = [[-100] * (length - len(row["labels"])) + row["labels"] for row in chosen]
        return {**inputs, "labels": torch.tensor(labels)}

    arguments = TrainingArguments(
        str(tmp_path),
        max_steps=300,
        per_device_train_batch_size=32,
        learning_rate=2e-3,
        warmup_steps=10,
        lr_scheduler_type="cosine",
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    rows = [row(instance) for instance in task.sample_training((1, 2), 2000, stream)]
    Trainer(model=model, args=arguments, train_dataset=rows, data_collator=batch).train()
    model.eval()
    asked = [task.sample(scale, stream) for scale in (1, 2) for _ in range(50)]
    inputs = tokenizer([instance.prompt for instance in asked], return_tensors="pt", padding=True)
    written = model.generate(**inputs, max_new_tokens=3)[:, inputs.input_ids.shape[1] :]
    answers = [tokenizer.decode(row).removesuffix(tokenizer.pad_token) for row in written]
    assert sum(answer == instance.answer for answer, instance in zip(answers, asked, strict=True)) >= 99


def test_wrong_use_is_refused_in_one_line(rows):
    with pytest.raises(ValueError, match=r"^cannot swap in 'rpe-cube'; choose from none, rope, alibi, rpe, .*$"):
        swap_position(gpt2(), "rpe-cube")
    with pytest.raises(ValueError, match=r"^cannot swap in 'absolute'; choose from none, .*$"):
        swap_position(gpt2(), "absolute")
    with pytest.raises(ValueError, match="cannot be one term of"):
        swap_position(gpt2(), "rope+rpe")
    with pytest.raises(ValueError, match=r"rpe-square has no option position\.width; its options are"):
        swap_position(gpt2(), "rpe-square", width=3)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "ffn_dim": 16, "num_attention_heads": 2, "vocab_size": 17}
    with pytest.raises(ValueError, match=r"^swap_position takes one of GPT2LMHeadModel, .*, not a OPTForCausalLM$"):
        swap_position(OPTForCausalLM(OPTConfig(**size)), "rpe-square")
    with pytest.raises(ValueError, match="without cross-attention"):
        swap_position(gpt2(add_cross_attention=True), "rpe-square")


def test_ids_of_padding_may_be_anything(rows):
    """transformers numbers padding by 1, on either side; what follows on the right is not looked at."""
    model = swap_position(gpt2(), "rpe-square").eval()
    tokens = torch.tensor([rows[1]])
    padded = torch.cat([tokens, torch.zeros_like(tokens[:, :2])], dim=1)
    mask = torch.tensor([[1] * tokens.shape[1] + [0, 0]])
    ids = (mask.cumsum(-1) - 1).masked_fill(mask == 0, 1)
    with torch.no_grad():
        found = model(padded, attention_mask=mask, position_ids=ids).logits[:, : tokens.shape[1]]
        assert torch.allclose(found, model(tokens).logits, atol=1e-5)


def test_what_would_be_wrong_in_silence_is_refused(rows):
    model = swap_position(gpt2(), "rpe-square").eval()
    tokens = torch.tensor([rows[1]])
    cache = DynamicCache()
    model(tokens, past_key_values=cache)
    with torch.no_grad(), pytest.raises(ValueError, match="filled with gradients on"):
        model(tokens, past_key_values=cache)
    again, block = torch.tensor([[0, 1, 2, 0, 1, 2, 3]]), torch.ones(1, 1, 7, 7).tril().bool()
    for packed in ({"position_ids": again}, {"position_ids": again, "use_cache": False}, {"attention_mask": block}):
        with torch.no_grad(), pytest.raises(ValueError, match="one text a row"):
            model(tokens, **packed)
    with pytest.raises(ValueError, match="needs an empty DynamicCache to start with"):
        model.generate(tokens, max_new_tokens=4, cache_implementation="static")
    with pytest.raises(ValueError, match="cannot be cut back; generate without an assistant"):
        model.generate(torch.tensor([[1, 2, 3] * 3]), max_new_tokens=6, prompt_lookup_num_tokens=2)
    model.set_attn_implementation("eager")
    with pytest.raises(ValueError, match="leaves out this model's position embedding"):
        model(tokens)
