"""Strings and token ids: one character a token.

Symbols come first, so that the id of a digit is the digit; padding comes last.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

DIGITS = "0123456789"
FRAME = "be="
"""What every string has: its beginning, its end, and the end of its prompt."""
PADDING_SIGN = "_"
RESERVED = "#_ "
"""The sign of a symbol in shapes, that of padding, and the space."""


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a task, each of them one character.

    Symbols are what numbers and strings consist of, in the order of their ids; separators stand between them. Every
    vocabulary has the delimiters `b`, `e` and `=` besides. Embeddings and the predictor treat all symbols as digits.
    Tokens may have words, which users read and write in place of the characters, with spaces between them.

    >>> Vocabulary("01ABC", ",").encode("bA,1=")
    [5, 2, 8, 1, 7]
    >>> Vocabulary("RB", words={"R": "red", "B": "blue"}).spell("bRB=")
    'b red blue ='
    """

    symbols: str = DIGITS
    separators: str = "+*\\"
    words: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    """The words of tokens that have one; kept as pairs."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(dict(self.words).items()))
        if not self.symbols:
            raise ValueError("a vocabulary has at least one symbol")
        seen = set(FRAME)
        for character in self.symbols + self.separators:
            if character in seen:
                own = "; 'b', 'e' and '=' begin, end and divide every string" if character in FRAME else ""
                raise ValueError(f"{character!r} is a token twice{own}")
            if character in RESERVED or not character.isprintable():
                raise ValueError(f"{character!r} cannot be a token: it is a space, a sign of the padding or of shapes")
            seen.add(character)
        wrong = [character for character in self.separators if character.isdigit()]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is a digit and can be a symbol only, not a separator")
        for token, word in self._words.items():
            if token not in self.characters:
                raise ValueError(f"the word {word!r} is that of {token!r}, which is no token")
            if not word or any(sign.isspace() for sign in word) or (len(word) == 1 and word in self.characters):
                raise ValueError(f"{word!r} cannot be the word of {token!r}: a word has no space and is no token")
        if len(set(self._words.values())) < len(self._words):
            raise ValueError("two tokens have the same word")

    @cached_property
    def characters(self) -> str:
        """The tokens in the order of their ids, without padding."""
        return self.symbols + FRAME + self.separators

    @property
    def padding(self) -> int:
        """The id of padding."""
        return len(self.characters)

    @property
    def size(self) -> int:
        """The number of ids, that of padding included."""
        return len(self.characters) + 1

    @property
    def end(self) -> int:
        """The id of `e`, after which nothing is written."""
        return self._ids["e"]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {character: index for index, character in enumerate(self.characters)}

    @cached_property
    def _words(self) -> dict[str, str]:
        return dict(self.words)

    @cached_property
    def _digits(self) -> dict[int, str]:
        return {ord(symbol): DIGITS[index % 10] for index, symbol in enumerate(self.symbols)}

    def encode(self, text: str) -> list[int]:
        """`b12=` -> [10, 1, 2, 12]."""
        ids = self._ids
        try:
            return [ids[character] for character in text]
        except KeyError as error:
            character = error.args[0]
        raise ValueError(f"character {character!r} in {text!r} is no token; the tokens are {self.characters}")

    def decode(self, ids: Iterable[int]) -> str:
        """[10, 1, 2, 12] -> `b12=`; padding is written `_`."""
        characters = self.characters + PADDING_SIGN
        return "".join(characters[index] for index in ids)

    def word(self, token: str) -> str:
        """Return what users read for a token: its word, or itself."""
        return self._words.get(token, token)

    def spell(self, text: str) -> str:
        """Return what users read for a text: itself, or its words with spaces between them if there are any."""
        return " ".join(map(self.word, text)) if self.words else text

    def parse(self, written: str) -> str:
        """Return the text that a user means; where tokens have words, they may be written, with spaces around them."""
        if not self.words:
            return written
        tokens = {word: token for token, word in self._words.items()}
        return "".join(tokens.get(part, part) for part in written.split())

    def write(self, values: Sequence[int]) -> str:
        """Write the symbols of some values, without separators."""
        return "".join(self.symbols[value] for value in values)

    def values(self, text: str, what: str) -> tuple[int, ...]:
        """Return the values of the symbols of a text; a ValueError names `what` if there is none, or another token."""
        if not text or any(token not in self.symbols for token in text):
            raise ValueError(f"{what} must be one or more of {self.symbols}, got {text!r}")
        return tuple(map(self.symbols.index, text))

    def as_digits(self, text: str) -> str:
        """Write a digit for each symbol, for all that asks only which tokens are digits."""
        return text if self.symbols == DIGITS else text.translate(self._digits)


VOCABULARY = Vocabulary()
"""The tokens of all tasks that do not have their own."""

CHARACTERS, PADDING, VOCABULARY_SIZE = VOCABULARY.characters, VOCABULARY.padding, VOCABULARY.size
encode, decode = VOCABULARY.encode, VOCABULARY.decode


def shape_of(text: str) -> str:
    """Return the text with every digit replaced by `#`: `b12+3=` -> `b##+#=`."""
    return "".join("#" if token.isdigit() else token for token in text)
