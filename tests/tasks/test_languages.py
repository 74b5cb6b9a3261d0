"""Regular languages as tasks, against regular expressions."""

import re
from collections import Counter
from itertools import product

import pytest

from contracts.task import TaskContract
from ldhd.tasks import ALL_TASKS, TASKS
from ldhd.tasks.contract import generator, sampled
from ldhd.tasks.languages import LANGUAGES, STATE_TASKS

LONGEST = 8


def words(automaton):
    return (word for length in range(LONGEST + 1) for word in product(automaton.symbols, repeat=length))


def letters(word):
    return "".join("abc"[symbol] for symbol in word)


@pytest.mark.parametrize("name", LANGUAGES)
class TestAutomata:
    def test_it_accepts_what_the_expression_matches(self, name):
        of = LANGUAGES[name]
        matches = re.compile(of.expression).fullmatch
        for word in words(of.automaton):
            assert (of.automaton.state(word) in of.automaton.accepting) == (matches(letters(word)) is not None), word

    def test_it_is_minimal(self, name):
        """No two states accept the same words, and all of them are reached."""
        automaton = LANGUAGES[name].automaton
        accepted = {
            frozenset(word for word in words(automaton) if automaton.state(word, start) in automaton.accepting)
            for start in automaton.states
        }
        assert len(accepted) == len(automaton.states)
        assert {automaton.state(word) for word in words(automaton)} - {None} == set(automaton.states)

    def test_what_tells_the_state(self, name):
        """If so many of the last or of the first symbols are said to tell it, they do, and one fewer do not."""
        automaton = LANGUAGES[name].automaton
        long = [word for word in words(automaton) if len(word) > 5 and automaton.state(word) is not None]
        for k, last in ((automaton.last_symbols, True), (automaton.first_symbols, False)):
            for kept in () if k is None else (k, k - 1):
                states = {}
                for word in long:
                    part = word[len(word) - kept :] if last else word[:kept]
                    states.setdefault(part, set()).add(automaton.state(word))
                assert all(len(found) == 1 for found in states.values()) == (kept == k)

    def test_every_symbol_counts_where_symbols_permute(self, name):
        automaton = LANGUAGES[name].automaton
        if automaton.permutes:
            for word in (word for word in words(automaton) if word):
                changed = [(*word[:t], 1 - word[t], *word[t + 1 :]) for t in range(len(word))]
                assert automaton.state(word) not in {automaton.state(other) for other in changed}


class LanguageContract(TaskContract):
    def expected(self, prompt):
        state = 0
        for symbol in prompt[1:-1]:
            state = self.task.format.automaton.transitions[state][int(symbol)]
        return f"{state}e"

    def test_there_are_hard_instances_whose_answers_are_right(self, scale=3):
        """None are listed."""
        assert self.task.hard(scale) == []


class TestFirst(LanguageContract):
    task = STATE_TASKS["state-first"]

    def test_needs(self):
        assert self.task.needs(self.task.read("b101=")) == [{"first_1": 1}, {}]


class TestLastButOne(LanguageContract):
    task = STATE_TASKS["state-last-but-one"]

    def test_needs(self):
        assert self.task.needs(self.task.read("b101=")) == [{"last_1": 3, "last_2": 2}, {}]
        assert self.task.needs(self.task.read("b1=")) == [{"last_1": 1, "last_2": None}, {}]


class TestDeep(LanguageContract):
    task = STATE_TASKS["state-deep"]

    def test_words_that_cannot_go_on_are_refused(self):
        with pytest.raises(ValueError, match="no word of the language begins with '111'"):
            self.task.read("b111=")


class TestFlipFlop(LanguageContract):
    task = STATE_TASKS["state-flip-flop"]

    def test_places_do_not_decide(self):
        assert self.task.format.by_content


class TestParity(LanguageContract):
    task = STATE_TASKS["state-parity"]

    def test_it_is_the_built_in_one(self):
        other = TASKS["parity-direct"]
        for instance in sampled(self.task):
            assert (instance.answer, self.task.needs(instance)) == (
                other.read(instance.prompt).answer,
                other.needs(other.read(instance.prompt)),
            )


def test_names():
    assert ALL_TASKS.keys() == TASKS.keys() | STATE_TASKS.keys()
    assert not TASKS.keys() & STATE_TASKS.keys()


@pytest.mark.parametrize("name", LANGUAGES)
def test_last_states_are_equally_frequent(name):
    task, stream = STATE_TASKS[f"state-{name}"], generator()
    instances = [task.sample(5, stream) for _ in range(2400)]
    for length in (9, 10):
        counts = Counter(instance.answer for instance in instances if len(instance.latent) == length)
        assert len(counts) == len(task.format.automaton.reached(length))
        assert abs(sum(counts.values()) - 1200) < 120
        assert all(abs(count - sum(counts.values()) / len(counts)) < 120 for count in counts.values())


def test_rare_words_are_seen():
    """In a sample of long words of `some`, the only 1 stands anywhere."""
    task, stream = STATE_TASKS["state-some"], generator()
    found = [task.sample(8, stream).latent for _ in range(3000)]
    places = Counter(word.index(1) for word in found if sum(word) == 1)
    assert set(places) == set(range(16))
