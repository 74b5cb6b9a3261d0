"""The decision procedures for C-RASP and its neighbours, against published labels and the definitions."""

import re
from itertools import product

import pytest

from ldhd.tasks.automaton import Automaton
from ldhd.tasks.languages import LANGUAGES
from ldhd.theory.c_rasp import components, in_c_rasp, is_r_trivial, is_star_free

R_TRIVIAL = """acabcc(c)* bba(c|a)* cb(a)*baa (b)*baa cb(a)*|abbc aa(a)*c (a)*(a)*b|aac bc(b)*abbb (b)*cbbcaa ((b)*b)*
bcac(a)*|ba (a)*b|acab b|ca|b(c|a)* (c)*b|b(b)* bcba|(a)*aa a|c(a)*cb|a ccc(b)* aa(c)*|acca (a)*caaa|c caaba|(a)*
(b)*b|aa|bba cbac(a)* (b)*cc(b)*ca aca(a)* (a)*a(b|b)* (a+b+)(a+b+)(a+b+) b(a|b)* c*a(a|b)* (a|b)*a(a|b)*
(a|b)*ab(a|b)* (a|b)*a(a|b)*b(a|b)*"""

IN_C_RASP = """(bbac)* (ac)*c|ba|a ((b)*)*(ab)* (ca)*(cb)* ((a)*)*(ac)* ccc(ba)* (ba)*(b)*bc (b)*cc(ca)* (ac)*ba(b)*
(ca)*(a)*bb (abbc)* c|cab|(bc)* a(bc)* (ca)*(ab)* bab(ba)* ((ac)*)* bbbc(ca)* (abcb)* (ba)*cb|aa (baaa)* (cb)*caa|b
(acba)* baca(bc)* b|c|ac(ac)* (ab|bbaa)* (ab)+a+ (ab)+a+b+ (ab)+a+b+a+ ((ab)+b+)((ab)+b+)((ab)+b+) (ab|ba)*
(ab)+b(ab)+ (ab)* (a(ab)*b)*"""

OUTSIDE = """(ab)*|(bb)* (bab|b)* (bb)*(bb)* (c|b(a)*)* ((b)*ac)* b|(bb)* (bc(c)*)* (baa|a)* bbcc(aa)* (ab(a)*)*
(b|a)*aaac (cc)* (bb)*cbac ((a)*ac)* ((b)*ab)* (ac(a)*)* (cca|a)* (aa|(b)*)* aa|ca(aa)* (aa|aa)* (a|c)*cbbb (bb)*ab|ac
(cc)*cccb (cc)*ccb|b bccb(aa)* (cab|c)* (a|ac|a)* aba|c(bb)* (b)*(b)*(aa)* ((a)*ca)* (cbb|b)* (a|c)*(cb)* (aa)*bb(a)*
(ca(c)*)* (ba|a|c)* ((a)*)*(cc)* cc|cc(bb)* ((b)*a|c)* (cb(c)*)* (baa|b)* ((b)*bc)* (a|aac)* ((a)*bb)* (cc)*bac
(bb)*(c)*ac (b|ac|c)* (b|bc)* (a)*(a)*(bb)* ((a)*ab)* bcbb(bb)* (ca)*(cc)* (ab|aabb)* (aa)* (a+b+)+ ((ab)+b+)+
(ab|bba)* (a|b|e)*be* (a|b)*b a*(ba*ba*)* (a|c)*ab*"""
"""The labels of the first suite of Yang et al., arXiv 2608.13433 (github.com/bveseli/state-tracking-crasp,
main_language_suite.csv), all but one language of six letters."""

LONGEST = {1: 9, 2: 9, 3: 6}
"""The length of strings that tell any two states of these languages apart, by the number of letters."""


def minimal(expression: str) -> Automaton:
    """Return the complete minimal automaton: prefixes are equal if the same strings complete them."""
    letters = sorted(set(expression) - set("()|*+"))
    lengths = range(LONGEST[len(letters)] + 1)
    endings = ["".join(ending) for length in lengths for ending in product(letters, repeat=length)]
    matches = re.compile(expression).fullmatch

    def signature(prefix):
        return tuple(matches(prefix + ending) is not None for ending in endings)

    number, prefixes, rows = {signature(""): 0}, [""], []
    for prefix in prefixes:
        row = []
        for letter in letters:
            found = signature(prefix + letter)
            if found not in number:
                number[found] = len(number)
                prefixes.append(prefix + letter)
            row.append(number[found])
        rows.append(tuple(row))
    return Automaton(tuple(rows), frozenset(state for known, state in number.items() if known[0]))


def test_published_labels():
    for group, labels in ((R_TRIVIAL, (True, True)), (IN_C_RASP, (False, True)), (OUTSIDE, (False, False))):
        for expression in group.split():
            automaton = minimal(expression)
            assert (is_r_trivial(automaton), in_c_rasp(automaton)) == labels, expression
    assert [len(group.split()) for group in (R_TRIVIAL, IN_C_RASP, OUTSIDE)] == [31, 33, 60]


@pytest.mark.parametrize("name", LANGUAGES)
def test_our_languages_have_the_labels_of_their_expressions(name):
    """Whether the dead state is left out of the automaton or not."""
    automaton, complete = LANGUAGES[name].automaton, minimal(LANGUAGES[name].expression)
    for decide in (in_c_rasp, is_r_trivial, is_star_free):
        assert decide(automaton) == decide(complete)


def test_c_rasp_lies_between_r_trivial_and_star_free():
    found = [(is_r_trivial(a), in_c_rasp(a), is_star_free(a)) for a in (one.automaton for one in LANGUAGES.values())]
    assert set(found) == {(True, True, True), (False, True, True), (False, False, True), (False, False, False)}


@pytest.mark.parametrize(("expression", "expected"), [("(aa)*", False), ("(ab)*", True), ("((a|b)(a|b))*", False)])
def test_star_free(expression, expected):
    assert is_star_free(minimal(expression)) == expected


def test_components():
    assert sorted(map(sorted, components(minimal("(ab)*c(ab)*")))) == [[0, 1], [2], [3, 4]]
