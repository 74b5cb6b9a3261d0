"""Owners of a run that sleep and wake, and copies of owners: parts of `make torture`, see `torture.py`."""

import contextlib
import os
import random
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ldhd import lease
from ldhd.experiments import RunConfig, RunFolder, run
from torture_hostile import Violations, config_of

counts: Counter[str] = Counter()
PATIENCE = 120


def forked(action: Callable[[], object], status: Path) -> int:
    """Do it in a forked process, which notes how it ended in a file."""
    pid = os.fork()
    if pid == 0:
        said = "done"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                action()
        except BaseException as error:
            said = type(error).__name__
        finally:
            with contextlib.suppress(BaseException):
                status.write_text(said)
            os._exit(0)
    return pid


def joined(pid: int, wrong: Violations) -> None:
    deadline = time.monotonic() + PATIENCE
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            wrong.append("a process hangs")
            return
        time.sleep(0.005)


UNCOMPARED = {"checkpoints", "record.json", "start.json"}
"""What else a finished run holds: it is not compared byte for byte."""


def outcome(folder: Path) -> dict[str, object]:
    """All that a finished run holds, without what depends on the clock, the command and the source tree."""
    names = ("config.json", "metrics.jsonl", "model.safetensors", "trace.json")
    record = RunFolder(folder).record().model_dump(exclude={"seconds", "command", "commit", "started"})
    return {"record": record, **{name: (folder / name).read_bytes() for name in names}}


def compared(folder: Path, expected: dict[str, object], others: tuple[str, ...] = ()) -> Violations:
    try:
        found = outcome(folder)
    except (OSError, ValueError) as error:
        return [f"lost: {error}"]
    wrong = [f"{folder} {name} differs" for name in expected if found[name] != expected[name]]
    extra = {path.name for path in folder.iterdir()} - {*expected, *UNCOMPARED, *others}
    return wrong + ([f"{folder} holds {sorted(extra)}"] if extra else [])


def reference(work: Path, config: RunConfig) -> dict[str, object]:
    wrong: Violations = []
    joined(forked(lambda: run(config, work / "whole"), work / "whole-status"), wrong)
    return outcome(work / "whole" / config.hash)


def stopped_owners(work: Path, share: float, dice: random.Random) -> Violations:
    """An owner is stopped just before a check of its lease, loses it, and wakes when another has finished the run."""
    work = work / "stopped"
    work.mkdir()
    config, wrong = config_of("copy", "rpe-square", steps=16), Violations()
    expected = reference(work, config)
    for turn in range(max(2, round(40 * share))):
        out, status = work / str(turn), work / f"status-{turn}"
        check, stop_at = lease.Lease.check, turn % 8

        def owner(out: Path = out, stop_at: int = stop_at, check: Callable[..., None] = check) -> None:
            checks = 0

            def stopping(self: lease.Lease) -> None:
                nonlocal checks
                if checks == stop_at:
                    os.kill(os.getpid(), signal.SIGSTOP)
                checks += 1
                check(self)

            lease.Lease.check = stopping  # type: ignore[method-assign]
            run(config, out)

        pid = forked(owner, status)
        os.waitpid(pid, os.WUNTRACED)
        if dice.random() < 0.5:  # somebody removes the file of the lease
            (out / config.hash / "lease").unlink()
        else:  # a file server forgets the owner, and another machine has had the file since
            path = out / config.hash / "lease"
            path.unlink()
            path.write_text("process 1 on elsewhere")
        other = forked(lambda out=out: run(config, out), work / f"other-{turn}")  # type: ignore[misc]
        joined(other, wrong)
        os.kill(pid, signal.SIGCONT)
        joined(pid, wrong)
        counts["owners that were stopped, lost their lease and woke up"] += 1
        if status.read_text() != "LostError":
            wrong.append(f"an owner without a lease ended with {status.read_text()}")
        wrong += compared(out / config.hash, expected, tuple(tmp.name for tmp in (out / config.hash).glob(".*.*")))
    return wrong


def clones(work: Path, share: float, dice: random.Random) -> Violations:
    """A copy of the owner goes on beside it, with the same lock, words and process number: one of the two finishes."""
    work = work / "clones"
    work.mkdir()
    config, wrong = config_of("copy", "rpe-square", steps=16), Violations()
    expected = reference(work, config)
    for turn in range(max(2, round(40 * share))):
        out, statuses = work / str(turn), [work / f"owner-{turn}", work / f"clone-{turn}"]
        pause = dice.choice([0.0, 0.003, 0.05])
        disguised = dice.random() < 0.8  # a snapshot of a machine has the same process numbers

        def owner(
            out: Path = out,
            at: int = turn % 8,
            pause: float = pause,
            status: Path = statuses[1],
            same: bool = disguised,
        ) -> None:
            check, checks, pid = lease.Lease.check, 0, os.getpid()

            def copied(self: lease.Lease) -> None:
                nonlocal checks
                checks += 1
                if checks == at + 1:
                    if (clone := os.fork()) == 0:
                        os.setsid()
                        if same:
                            os.getpid = lambda: pid
                        time.sleep(pause)
                        try:
                            continued(self)
                        except BaseException as error:
                            status.write_text(type(error).__name__)
                            os._exit(0)
                        return
                    children.append(clone)
                check(self)

            def continued(self: lease.Lease) -> None:
                is_clone.append(True)
                check(self)

            is_clone: list[bool] = []
            children: list[int] = []
            lease.Lease.check = copied  # type: ignore[method-assign]
            said = "done"
            try:
                run(config, out)
            except BaseException as error:
                said = type(error).__name__
            if is_clone:
                status.write_text(said)
                os._exit(0)
            for child in children:
                os.waitpid(child, 0)
            if said != "done":
                raise lease.LostError(said)

        joined(forked(owner, statuses[0]), wrong)
        said = [path.read_text() if path.exists() else "nothing" for path in statuses]
        counts["owners with a copy of themselves"] += 1
        if sorted(said) not in (["LostError", "done"], ["LostError", "LostError"]):
            wrong.append(f"an owner and its copy ended with {said}")
        if "done" not in said:  # they met at the same instant; both are out, and the run goes on later
            counts["copies that stopped each other"] += 1
        joined(forked(lambda out=out: run(config, out), work / f"later-{turn}"), wrong)  # type: ignore[misc]
        wrong += compared(out / config.hash, expected)
    return wrong
