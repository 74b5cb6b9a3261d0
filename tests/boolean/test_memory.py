"""What does not fit is refused in words, before it is allocated."""

import pytest

from ldhd.boolean import memory
from ldhd.boolean.memory import check_memory, memory_limit


def test_small_arrays_fit():
    check_memory(1000, "a thousand numbers")


@pytest.mark.parametrize(
    ("entries", "quoted"), [(2**50, r"8388608\.0 GiB"), (2**100, r"2\^103 bytes"), (10**30, r"2\^102 bytes")]
)
def test_large_arrays_are_refused(entries, quoted):
    with pytest.raises(ValueError, match=f"the values of f would need {quoted} of memory"):
        check_memory(entries, "the values of f")


def test_the_limit_is_half_of_what_there_is(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text("2097152\n")
    monkeypatch.setattr(memory, "CONTROL_GROUP_LIMIT", limit)
    assert memory_limit() == 2**20
    with pytest.raises(ValueError, match=r"would need 8\.0 MiB of memory, more than the 1\.0 MiB allowed"):
        check_memory(2**20, "this")


def test_a_control_group_without_limit_leaves_the_machine(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    monkeypatch.setattr(memory, "CONTROL_GROUP_LIMIT", limit)
    unlimited = memory_limit()
    monkeypatch.setattr(memory, "CONTROL_GROUP_LIMIT", tmp_path / "absent")
    assert memory_limit() == unlimited > 2**20
