"""Strings and token ids: one character a token.

Digits come first, so that the id of a digit is the digit; padding comes last.
"""

from collections.abc import Iterable

CHARACTERS = "0123456789be=+*\\"
PADDING = len(CHARACTERS)
VOCABULARY_SIZE = len(CHARACTERS) + 1

_ID = {character: index for index, character in enumerate(CHARACTERS)}


def encode(text: str) -> list[int]:
    """`b12=` -> [10, 1, 2, 12]."""
    try:
        return [_ID[character] for character in text]
    except KeyError as error:
        raise ValueError(f"character {error.args[0]!r} in {text!r} is no token; the tokens are {CHARACTERS}") from None


def decode(ids: Iterable[int]) -> str:
    """[10, 1, 2, 12] -> `b12=`; padding is written `_`."""
    return "".join((CHARACTERS + "_")[index] for index in ids)
