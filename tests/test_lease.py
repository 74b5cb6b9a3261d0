"""A folder has one owner at a time, whatever processes die or sleep."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from ldhd.lease import HeldError, Lease, LostError, Waiting, holding
from ldhd.process import Interrupted


def test_one_owner_at_a_time(tmp_path):
    with holding(tmp_path / "run"):
        with (
            pytest.raises(HeldError, match=f"is worked on by process {os.getpid()} on "),
            holding(tmp_path / "run", wait=False),
        ):
            pass
        assert not Lease(tmp_path / "run").is_free()
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


def test_an_error_releases_the_lease(tmp_path):
    with pytest.raises(KeyError), holding(tmp_path):
        raise KeyError
    assert Lease(tmp_path).is_free()


HOLD_AND_REPORT = """
import pathlib, sys, time
from ldhd.lease import holding
with holding(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def owner(tmp_path):
    """Another process that holds the lease."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD_AND_REPORT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def wait_until_taken(lease):
    deadline = time.monotonic() + 30
    while not lease.take():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_owner_is_replaced_at_once(tmp_path, owner):
    assert not Lease(tmp_path).take()
    owner.kill()  # and not waited for: a zombie holds no lock
    waiting = Lease(tmp_path)
    wait_until_taken(waiting)
    assert [path.name for path in tmp_path.iterdir()] == ["lease"]
    assert waiting.owner.startswith(f"process {os.getpid()} on ")


def test_the_file_of_a_killed_owner_is_removed_when_somebody_looks(tmp_path, owner):
    owner.kill()
    owner.wait(timeout=30)
    assert (tmp_path / "lease").exists()
    assert Lease(tmp_path).is_free()
    assert list(tmp_path.iterdir()) == []


def test_an_owner_that_sleeps_keeps_its_lease(tmp_path, owner):
    os.kill(owner.pid, signal.SIGSTOP)
    assert not Lease(tmp_path).take()
    assert not Lease(tmp_path).is_free()


@pytest.mark.parametrize("content", ["", "{", '{"token": "of another version", "pid": 1}'])
def test_a_file_that_nobody_holds_is_no_lease(tmp_path, content):
    (tmp_path / "lease").write_text(content)
    with holding(tmp_path, wait=False):
        pass
    assert list(tmp_path.iterdir()) == []


def test_times_of_modification_do_not_matter(tmp_path):
    with holding(tmp_path):
        for when in (0, 10**18, 5):
            os.utime(tmp_path / "lease", ns=(when, when))
            assert not Lease(tmp_path).take()


def test_a_lease_whose_file_was_removed_by_hand_can_be_taken_and_is_not_removed_twice(tmp_path):
    first, second = Lease(tmp_path), Lease(tmp_path)
    assert first.take()
    (tmp_path / "lease").unlink()
    assert second.take()
    first.release()
    assert not Lease(tmp_path).take()
    second.release()
    assert list(tmp_path.iterdir()) == []


def test_of_many_who_try_at_once_one_owns_the_folder_at_a_time(tmp_path):
    """Many threads take and release the lease again and again; removing the file lets no second owner in."""
    start, inside, most, turns = threading.Barrier(8), [], [], []

    def work():
        start.wait(30)
        for _ in range(30):
            lease = Lease(tmp_path)
            wait_until_taken(lease)
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.0001)
            inside.pop()
            turns.append(1)
            lease.release()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (max(most), len(turns)) == (1, 240)
    assert list(tmp_path.iterdir()) == []


def test_an_owner_checks_that_the_lease_is_still_its_own(tmp_path):
    lease = Lease(tmp_path)
    with pytest.raises(LostError):
        lease.check()
    assert lease.take()
    words = set()
    for _ in range(3):
        lease.check()
        words.add((tmp_path / "lease").read_text())
    assert len(words) == 3  # a copy that is restored later does not know the newest
    (tmp_path / "lease").unlink()
    with pytest.raises(LostError, match="now belongs to another process"):
        lease.check()
    assert Lease(tmp_path).take()
    lease.release()
    assert (tmp_path / "lease").exists()


def test_a_copy_of_the_owner_stops_it_or_is_stopped(tmp_path):
    lease = Lease(tmp_path)
    assert lease.take()
    reader, writer = os.pipe()
    pid, number = os.fork(), lease._process
    if pid == 0:
        os.getpid = lambda: number  # as in a snapshot of the machine
        lease.check()
        os.write(writer, b"the copy was first")
        os._exit(0)
    assert os.read(reader, 100) == b"the copy was first"
    os.waitpid(pid, 0)
    with pytest.raises(LostError):
        lease.check()
    lease.release()
    assert (tmp_path / "lease").exists()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: path.symlink_to("absent")])
def test_what_is_no_file_is_no_lease(tmp_path, make):
    make(tmp_path / "lease")
    with pytest.raises(OSError, match="is no file of a lease but something else"):
        Lease(tmp_path).take()
    assert not (tmp_path / "absent").exists()


def test_waiting_is_told_and_ends(tmp_path, owner):
    os.kill(owner.pid, signal.SIGSTOP)
    os.waitpid(owner.pid, os.WUNTRACED)
    with pytest.warns(UserWarning, match=f"on which process {owner.pid} on .* works, which is stopped"):
        Waiting(tmp_path, tell=-1).look()
    waiting = Waiting(tmp_path, patience=0.01)
    waiting.look()
    (tmp_path / "metrics.jsonl").touch()
    time.sleep(0.02)
    waiting.look()  # something has changed
    time.sleep(0.02)
    with pytest.raises(ValueError, match="is waited for no longer"):
        waiting.look()
