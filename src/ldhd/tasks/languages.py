"""Regular languages as tasks: read a word, write the state that its automaton is in at the end.

In arXiv 2608.13433 (Yang et al., 2026) the state is asked for after every prefix, at a separator that hides the last
symbol. Here it is asked for once, at `=`, after words of every training length. As there, words are those that can be
continued to a word of the language.
"""

from dataclasses import dataclass
from functools import cache

import torch

from ldhd.tasks import digits
from ldhd.tasks.automaton import Automaton
from ldhd.tasks.digits import Digits
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

FAVOUR = 8.0
"""How many times as likely as the others one symbol is in some of the words."""

EVERY_SYMBOL = "every symbol may matter, and which do is decided by the others"


@dataclass(frozen=True)
class Language:
    """A regular language with its minimal automaton; its symbols are digits."""

    expression: str
    """A regular expression, with letters a, b and c for 0, 1 and 2."""
    automaton: Automaton


def language(expression: str, accepting: str, *rows: str) -> Language:
    """Make a language from the rows of its automaton, a digit for each next state and `-` where there is none."""
    transitions = tuple(tuple(None if state == "-" else int(state) for state in row) for row in rows)
    return Language(expression, Automaton(transitions, frozenset(map(int, accepting))))


LANGUAGES = {
    "first": language("b(a|b)*", "2", "12", "11", "22"),
    "some": language("(a|b)*b(a|b)*", "1", "01", "11"),
    "subsequence": language("(a|b)*a(a|b)*b(a|b)*", "2", "10", "12", "22"),
    "blocks": language("a*b*a*b*", "0123", "01", "21", "23", "-3"),
    "dyck-1": language("(ab)*", "0", "1-", "-0"),
    "dyck-2": language("(a(ab)*b)*", "0", "1-", "20", "-1"),
    "crossing": language("(ab|ba)*", "0", "12", "-0", "0-"),
    "deep": language("(ab|bbaa)*", "0", "12", "-0", "-3", "4-", "0-"),
    "last": language("(a|b)*b", "1", "01", "01"),
    "last-but-one": language("(a|b)*b(a|b)", "23", "01", "23", "01", "23"),
    "flip-flop": language("(a|b|c)*bc*", "1", "010", "011"),
    "ambiguous": language("(ab|aabb)*", "0", "1-", "20", "-3", "-0"),
    "drifting": language("(ab|bba)*", "0", "12", "-0", "-3", "0-"),
    "parity": language("a*(ba*ba*)*", "0", "01", "10"),
}


class Words(LatentSpace):
    """The words over which an automaton runs; those of scale n have 2 n - 1 or 2 n symbols, equally often.

    In some languages an odd and an even number of symbols lead to different states, so that a scale of one length would
    not ask for all of them. The last state is uniform on those that there are after so many symbols. In some words one
    symbol is `FAVOUR` times as likely as the others: of uniform symbols, long words with a single 1 would hardly ever
    be seen.
    """

    def __init__(self, automaton: Automaton):
        self.automaton = automaton

    def sample(self, scale: int, generator: torch.Generator) -> Digits:
        length, kind, end, *places = torch.rand(3 + 2 * scale, generator=generator).tolist()
        places = places[: 2 * scale - (length < 0.5)]
        last = sorted(self.automaton.reached(len(places)))
        favoured = int(kind * (1 + len(self.automaton.symbols))) - 1
        ways = _ways(self.automaton, len(places), last[int(end * len(last))], favoured)
        word: list[int] = []
        state = 0
        for t, place in enumerate(places):
            options = [
                (ways[t + 1][q] * _weight(symbol, favoured), symbol, q)
                for symbol, q in enumerate(self.automaton.transitions[state])
                if q is not None
            ]
            left = place * sum(weight for weight, _, _ in options)
            for weight, symbol, after in options:
                if weight > 0:
                    chosen = symbol, after
                left -= weight
                if left < 0:
                    break
            word.append(chosen[0])
            state = chosen[1]
        return tuple(word)

    def scale(self, latent: Digits) -> int:
        return (len(latent) + 1) // 2

    def longest(self, scale: int) -> Digits:
        return next(self.automaton.paths(2 * scale))

    def shapes(self, scale: int) -> list[Digits]:
        """Return words of both lengths, among which every symbol that can stand at a place does."""
        return [word for length in (2 * scale - 1, 2 * scale) for word in self.automaton.paths(length)]


class StateFormat(Format):
    """`b x_0 ... x_{n-1} = q e`, where q is the state after the word.

    >>> b0010=1e          some: there is a 1
    >>> b0000=0e
    """

    def __init__(self, automaton: Automaton):
        self.automaton = automaton
        bounded = automaton.last_symbols or automaton.first_symbols
        self.by_content = "" if bounded or automaton.permutes else EVERY_SYMBOL

    def prompt(self, latent: Digits) -> str:
        return f"b{digits.write(latent)}="

    def answer(self, latent: Digits, label: int) -> str:
        return f"{label}e"

    def read(self, prompt: str) -> Digits:
        word = digits.read(digits.inside(prompt, "b01="), f"the word {prompt!r}", len(self.automaton.symbols))
        if self.automaton.state(word) is None:
            raise ValueError(f"no word of the language begins with {digits.write(word)!r}")
        return word

    def needs(self, latent: Digits, label: int) -> Needs:
        """The state needs the last or the first symbols, if they tell it, or else every symbol; `e` follows always."""
        n = len(latent)
        if (k := self.automaton.last_symbols) is not None:
            return [{f"last_{i + 1}": n - i if i < n else None for i in range(k)}, {}]
        if (k := self.automaton.first_symbols) is not None:
            return [{f"first_{i + 1}": 1 + i if i < n else None for i in range(k)}, {}]
        return [{f"x_{i}": 1 + i for i in range(n)}, {}]


def state_task(name: str, of: Language) -> Task:
    """Return the task of a language, for words of up to 16 symbols."""
    return Task(
        f"state-{name}", Words(of.automaton), of.automaton.state, StateFormat(of.automaton), tuple(range(1, 17))
    )


STATE_TASKS: dict[str, Task] = {f"state-{name}": state_task(name, of) for name, of in LANGUAGES.items()}


def _weight(symbol: int, favoured: int) -> float:
    return FAVOUR if symbol == favoured else 1.0


@cache
def _ways(automaton: Automaton, length: int, last: int, favoured: int) -> list[list[float]]:
    """Return, for each number of symbols read and each state, the weight of all ways to go on to the last state.

    The weights of each number of symbols are relative to the largest of them.
    """
    found = [[float(state == last) for state in automaton.states]]
    for _ in range(length):
        row = [0.0] * len(automaton.states)
        for p, symbol, q in automaton.edges:
            row[p] += found[-1][q] * _weight(symbol, favoured)
        largest = max(row)
        found.append([weight / largest for weight in row])
    return found[::-1]
