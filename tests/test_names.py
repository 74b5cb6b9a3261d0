"""Names that do not exist get an answer that helps."""

import pytest

from contracts.command import ldhd
from ldhd.names import lookup, lookup_only, unknown_name


def test_a_close_name_is_suggested():
    for find in (lookup, lookup_only):
        with pytest.raises(ValueError, match=r"^unknown position 'rpe_square'; choose from rpe, rpe-square.*"):
            find("rpe_square", {"rpe": 1, "rpe-square": 2}, "position")
    assert str(unknown_name("rpe_square", ["rpe", "rpe-square"], "position")) == (
        "unknown position 'rpe_square'; choose from rpe, rpe-square; did you mean rpe-square?"
    )
    assert "did you mean" not in str(unknown_name("sorting", ["copy", "addition"], "task"))


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
