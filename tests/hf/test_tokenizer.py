"""The tokenizer has ldhd's ids."""

from contracts import hub  # noqa: F401
from ldhd.hf import character_tokenizer
from ldhd.tasks.tokens import CHARACTERS, PADDING, VOCABULARY_SIZE, encode


def test_ids_are_those_of_ldhd():
    tokenizer = character_tokenizer()
    assert tokenizer.is_fast
    assert len(tokenizer) == VOCABULARY_SIZE
    assert tokenizer(CHARACTERS).input_ids == encode(CHARACTERS)
    assert tokenizer.decode(encode(CHARACTERS)) == CHARACTERS
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (encode("e")[0], PADDING)


def test_padding_stands_on_the_left_and_is_not_read_back():
    tokenizer = character_tokenizer()
    padded = tokenizer(["b1=", "b1+2="], padding=True)
    assert padded["input_ids"][0] == [PADDING, PADDING, *encode("b1=")]
    assert padded["attention_mask"][0] == [0, 0, 1, 1, 1]
    assert tokenizer.decode(padded["input_ids"][0], skip_special_tokens=True) == "b1="
