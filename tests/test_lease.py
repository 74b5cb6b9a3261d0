"""A folder has one owner at a time, whatever processes die, sleep or have wrong clocks."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from ldhd import lease as leases
from ldhd.lease import HeldError, Lease, LostError, holding
from ldhd.messages import Interrupted


@pytest.fixture
def clock(monkeypatch):
    """The monotonic clock of who waits, moved by hand."""
    now = [1000.0]
    monkeypatch.setattr(leases.time, "monotonic", lambda: now[0])
    return now


def elsewhere(path, token="theirs", beat=1):
    """A lease of another machine."""
    fields = {"token": token, "host": "far", "pid": 1, "machine": "another boot", "started": "1"}
    path.write_text(json.dumps(fields))
    os.utime(path, ns=(0, beat))


def test_one_owner_at_a_time(tmp_path):
    with holding(tmp_path / "run") as first:
        assert first.ours
        with (
            pytest.raises(HeldError, match=f"is worked on by process {os.getpid()} on "),
            holding(first.path.parent, wait=False),
        ):
            pass
        assert not Lease(first.path).free()
    assert list((tmp_path / "run").iterdir()) == []
    with holding(tmp_path / "run", wait=False):
        pass


def test_waiting_can_be_stopped(tmp_path):
    waits = []
    with (
        holding(tmp_path),
        pytest.raises(Interrupted, match="stopped while waiting"),
        holding(tmp_path, stop=lambda: len(waits) > 1, on_wait=lambda: waits.append(1)),
    ):
        pass


HOLD_AND_TELL = """
import pathlib, sys, time
from ldhd.lease import holding
with holding(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_killed_owner_is_replaced_at_once(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD_AND_TELL, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    assert not Lease(tmp_path / "lease").take()
    process.kill()  # and not waited for: a zombie is gone too
    deadline = time.monotonic() + 30
    waiting = Lease(tmp_path / "lease")
    while not waiting.take():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert waiting.ours
    process.communicate(timeout=30)
    assert [path.name for path in tmp_path.iterdir()] == ["lease"]


def test_a_process_that_has_the_number_of_a_dead_one_is_another(tmp_path):
    one, other = Lease(tmp_path / "lease"), Lease(tmp_path / "lease")
    assert one.take()
    fields = json.loads(one.path.read_text())
    one.path.write_text(json.dumps({**fields, "started": "0"}))
    assert other.take()
    assert not one.ours


def test_an_owner_elsewhere_is_gone_when_it_shows_nothing_for_long(tmp_path, clock):
    elsewhere(tmp_path / "lease")
    waiting = Lease(tmp_path / "lease")
    assert not waiting.take()
    clock[0] += leases.GONE_SECONDS - 1
    assert not waiting.take()
    clock[0] += 2
    assert waiting.take()


@pytest.mark.parametrize("beats", [(5, 6, 7, 8), (8, 7, 6, 5), (10**18, 0, 10**18, 0)])
def test_clocks_that_go_backwards_or_differ_do_not_matter(tmp_path, clock, monkeypatch, beats):
    """Any change of the time of modification is a sign of life, and nothing else is looked at."""
    waiting = Lease(tmp_path / "lease")
    for wall, beat in zip((10**9, 0, 10**10, 5), beats, strict=True):
        monkeypatch.setattr(leases.time, "time", lambda wall=wall: wall)
        elsewhere(tmp_path / "lease", beat=beat)
        assert not waiting.take()
        clock[0] += leases.GONE_SECONDS - 1
        assert not waiting.take()
        clock[0] += 1
    clock[0] += leases.GONE_SECONDS
    assert waiting.take()


def test_beats_move_though_the_clock_stands_still(tmp_path):
    lease = Lease(tmp_path / "lease")
    assert lease.take()
    seen = {lease.path.stat().st_mtime_ns}
    for _ in range(5):
        lease.beat()
        seen.add(lease.path.stat().st_mtime_ns)
    assert len(seen) == 6


def test_an_owner_beats_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.01)
    with holding(tmp_path) as lease:
        deadline = time.monotonic() + 30
        while lease.path.stat().st_mtime_ns != 3 * 10**9:
            assert time.monotonic() < deadline
            time.sleep(0.001)


def test_who_was_asleep_finds_out(tmp_path, clock):
    with holding(tmp_path) as lease:
        lease.check()
        elsewhere(lease.path)
        with pytest.raises(LostError, match="taken over"):
            lease.check()
    assert json.loads((tmp_path / "lease").read_text())["token"] == "theirs"


@pytest.mark.parametrize("content", ["", "{", "[]", "{}"])
def test_a_lease_that_is_not_whole_is_gone_after_the_same_time(tmp_path, clock, content):
    (tmp_path / "lease").write_text(content)
    waiting = Lease(tmp_path / "lease")
    assert not waiting.take()
    assert waiting.owner == "another process"
    clock[0] += leases.GONE_SECONDS + 1
    assert waiting.free()
    assert list(tmp_path.iterdir()) == []


def test_without_hard_links(tmp_path, monkeypatch):
    def none(*_):
        raise PermissionError("no hard links here")

    monkeypatch.setattr(leases.os, "link", none)
    one, other = Lease(tmp_path / "lease"), Lease(tmp_path / "lease")
    assert one.take()
    assert not other.take()
    one.release()
    assert other.take()


def test_of_many_who_find_an_owner_gone_one_takes_its_place(tmp_path, clock):
    """Again and again, all at the same moment."""
    for turn in range(30):
        path = tmp_path / str(turn)
        elsewhere(path)
        waiting = [Lease(path) for _ in range(8)]
        assert not any(lease.take() for lease in waiting)
        clock[0] += leases.GONE_SECONDS + 1
        start, taken = threading.Barrier(len(waiting)), []

        def try_it(lease, start=start, taken=taken):
            start.wait(30)
            taken.append(lease.take())

        threads = [threading.Thread(target=try_it, args=(lease,)) for lease in waiting]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert sum(taken) == 1
        assert sum(lease.ours for lease in waiting) == 1


def test_what_a_killed_taker_left_is_removed_by_the_next_owner(tmp_path):
    elsewhere(tmp_path / "lease-theirs", token="taker")
    with holding(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == ["lease"]


def test_a_taker_that_died_at_it_is_no_obstacle(tmp_path, clock):
    """It left the lease on taking the place, which is taken over like any other."""
    elsewhere(tmp_path / "lease")
    elsewhere(tmp_path / "lease-theirs", token="taker")
    waiting = Lease(tmp_path / "lease")
    assert not waiting.take()
    clock[0] += leases.GONE_SECONDS + 1
    assert not waiting.take()
    clock[0] += leases.GONE_SECONDS + 1
    assert waiting.take()
    assert [path.name for path in tmp_path.iterdir()] == ["lease"]
