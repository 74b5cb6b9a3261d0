"""The characters of ldhd's strings as a fast tokenizer."""

from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import PreTrainedTokenizerFast

from ldhd.tasks.tokens import CHARACTERS, PADDING

PAD = "<pad>"


def character_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of single characters with the ids of ldhd; `e` ends a text, padding is on the left."""
    vocabulary = {character: index for index, character in enumerate(CHARACTERS)}
    tokenizer = Tokenizer(WordLevel({**vocabulary, PAD: PADDING}))
    tokenizer.pre_tokenizer = Split(Regex("[\\s\\S]"), "isolated")
    tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="e",
        pad_token=PAD,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
