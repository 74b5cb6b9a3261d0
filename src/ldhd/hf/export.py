"""A finished run as a folder that transformers loads."""

import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split, WhitespaceSplit
from transformers import GenerationConfig, PreTrainedTokenizerFast
from transformers.utils import logging

from ldhd.evaluate.accuracy import sample_test_instances
from ldhd.experiments import RunConfig, RunFolder, evaluate_run, load_run
from ldhd.experiments.packaged import run_path
from ldhd.hf.card import write_card
from ldhd.hf.configuration import LdhdConfig
from ldhd.hf.harness import write_tasks
from ldhd.hf.modeling import LdhdForCausalLM
from ldhd.hf.remote_code import auto_map, write_code
from ldhd.model import GPT
from ldhd.positions import POSITIONS
from ldhd.report.terminal import Output
from ldhd.tasks.tokens import VOCABULARY, Vocabulary

PAD = "<pad>"


def export_run(
    run: Path,
    folder: Path,
    *,
    test_scales: tuple[int, ...] | None = None,
    instances: int | None = None,
    lm_eval: bool = False,
    trust: bool = False,
) -> Output:
    """Export a run to `folder`, completely or not at all; the folder must not exist.

    The card shows the run's own results, or new ones where other scales or another number of instances are asked for;
    with `lm_eval` the same instances are written as tasks of the lm-evaluation-harness. The document that is returned
    names these tasks, the group of all of them first.
    """
    if folder.exists():
        raise ValueError(f"{folder} exists already; export writes a new folder")
    run = run_path(run)
    config, task, gpt = load_run(run, trust=trust)
    if config.model_options.architecture != "transformer":
        raise ValueError(
            f"only Transformers can be exported, and {run} is of architecture {config.model_options.architecture}"
        )
    for term in config.position.split("+"):
        if term not in POSITIONS:
            raise ValueError(f"{term} is no embedding of ldhd and cannot be exported; those are {', '.join(POSITIONS)}")
    if test_scales is None and instances is None:
        results = RunFolder(run).record().results
    else:
        _, results = evaluate_run(run, test_scales or config.test_scales, instances, trust=trust)
    model = exported(config, gpt, task.vocabulary)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        _save(model, beside)
        character_tokenizer(task.vocabulary).save_pretrained(beside)
        write_code(beside)
        example = sample_test_instances(task, max(config.train_scales), 1, config.seed)[0]
        stored = RunFolder(run)
        certificate = stored.certificate() if stored.certificate_path.exists() else None
        write_card(beside, config, task, example, model.num_parameters(), results, certificate)
        names: list[str] = []
        if lm_eval:
            asked = {found.scale: sample_test_instances(task, found.scale, found.n, config.seed) for found in results}
            names = write_tasks(beside, config.task, asked, task.vocabulary)
        beside.chmod(0o755)
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    document = {"folder": str(folder), "hash": config.hash, "task": config.task, "position": config.position}
    view = [f"{config.task} {config.position}: {folder}"]
    if names:
        options = f"--model hf --model_args pretrained={folder},trust_remote_code=True"
        view.append(f"to evaluate it: lm_eval {options} --include_path {folder} --tasks {names[0]}")
    return {**document, "results": [asdict(result) for result in results], "lm_eval": names}, view


def exported(config: RunConfig, gpt: GPT, vocabulary: Vocabulary) -> LdhdForCausalLM:
    """Return a trained model as a model of transformers."""
    begin, end = vocabulary.encode("be")
    special: dict[str, Any] = {"bos_token_id": begin, "eos_token_id": end, "pad_token_id": vocabulary.padding}
    model = LdhdForCausalLM(
        LdhdConfig(
            model_options=config.model_options.model_dump(),
            position=config.position,
            position_options=config.position_options,
            vocab_size=vocabulary.size,
            **special,
            auto_map=auto_map(),
            tie_word_embeddings=False,
        )
    )
    model.gpt.load_state_dict(gpt.state_dict())
    model.generation_config = GenerationConfig(**special)
    return model.eval()


def character_tokenizer(vocabulary: Vocabulary = VOCABULARY) -> PreTrainedTokenizerFast:
    """Return a tokenizer of single characters with the ids of ldhd; `e` ends a text, padding is on the left.

    Where tokens have words, it reads and writes words with spaces between them.
    """
    ids = {vocabulary.word(character): index for index, character in enumerate(vocabulary.characters)}
    tokenizer = Tokenizer(WordLevel({**ids, PAD: vocabulary.padding}))
    if vocabulary.words:
        tokenizer.pre_tokenizer = WhitespaceSplit()
    else:
        tokenizer.pre_tokenizer = Split(Regex("[\\s\\S]"), "isolated")
        tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=vocabulary.word("e"),
        pad_token=PAD,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def _save(model: LdhdForCausalLM, folder: Path) -> None:
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # transformers draws one for every file
    try:
        model.save_pretrained(folder)
    finally:
        if drawn:
            logging.enable_progress_bar()
