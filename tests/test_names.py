"""Names that do not exist get an answer that helps."""

import pytest

from contracts.command import ldhd
from ldhd.names import lookup, lookup_only


def test_a_close_name_is_suggested():
    choices, unknown = {"rpe": 1, "rpe-square": 2}, "^unknown position 'rpe_square'; choose from rpe, rpe-square"
    with pytest.raises(ValueError, match=rf"{unknown} or give your own as module:NAME; did you mean rpe-square\?$"):
        lookup("rpe_square", choices, "position")
    with pytest.raises(ValueError, match=rf"{unknown}; did you mean rpe-square\?$"):
        lookup_only("rpe_square", choices, "position")
    with pytest.raises(ValueError, match=r"^unknown task 'primes'; choose from copy, addition$"):
        lookup_only("primes", {"copy": 1, "addition": 2}, "task")


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["run", "copy", "--position", "rpe_square"], "did you mean rpe-square?"),
        (["run", "adition", "--position", "rpe"], "did you mean addition?"),
        (["run", "copy", "--position", "rpe", "--model", "smal"], "did you mean small?"),
        (["reproduce", "fig2A"], "did you mean fig2a?"),
        (["bench", "atention"], "did you mean attention?"),
    ],
)
def test_commands_suggest_the_name_that_was_meant(tmp_path, monkeypatch, capsys, arguments, suggestion):
    monkeypatch.chdir(tmp_path)
    code, _, error = ldhd(capsys, *arguments)
    assert code == 2
    assert error.strip().endswith(suggestion)
