"""Runs and sweeps under abuse, at full size: `make torture`; `python tests/torture.py PERCENT [PART...]` for less.

Every part counts what it did and what went wrong; the summary is printed at the end, and the exit code is 1 if anything
did. Runs are tiny. Most processes are forked from this one, which has imported torch and computed nothing.
"""

import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import torture_hostile
import torture_owners
from ldhd.cli import main
from ldhd.experiments import RunConfig, RunFolder, load_run, make_config, run, runner
from ldhd.files import BadFileError
from ldhd.lease import Lease
from ldhd.sweep.file import parse_sweep
from torture_owners import UNCOMPARED, outcome

TINY = {
    "model.dimension": 16,
    "model.heads": 2,
    "train.batch_size": 8,
    "train.samples": 40,
    "train.checkpoint_every": 5,
    "train.evaluate_every": 4,
    "test_instances": 4,
}
SCALES = {"train_scales": (1, 2), "test_scales": (1, 3)}
STEPS = 30
PATIENCE = 120
"""Seconds after which something that does not end is a violation."""

Violations = list[str]
counts: Counter[str] = Counter()


def config(seed: int = 0, **settings_: object) -> RunConfig:
    return make_config("copy", "rpe-square", steps=STEPS, seed=seed, settings={**TINY, **settings_}, **SCALES)


def in_child(action: Callable[[], object], kill_after: float | None = None) -> int:
    """Do it in a forked process, killed after some seconds unless it has ended; its exit code, or minus the signal."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(code)
    deadline = time.monotonic() + (PATIENCE if kill_after is None else kill_after)
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return -signal.SIGKILL
        time.sleep(0.002)


def differences(folder: Path, reference: Path) -> Violations:
    """What of a run differs from the uninterrupted one, or is left over."""
    try:
        found, expected = outcome(folder), outcome(reference)
    except (BadFileError, FileNotFoundError) as error:
        return [f"lost: {error}"]
    wrong = [f"{folder} {name} differs" for name in expected if found[name] != expected[name]]
    steps = [row["step"] for row in RunFolder(folder).metrics()]
    if steps != sorted(set(steps)):
        wrong.append(f"{folder} metrics repeat lines: {steps}")
    if not Lease(folder).is_free():  # which removes that of a process killed just before it did so
        wrong.append(f"{folder} is still leased")
    allowed = {*outcome(reference), *UNCOMPARED} - {"record"}
    extra = {path.name for path in folder.iterdir()} - allowed
    return wrong + ([f"{folder} holds {sorted(extra)}"] if extra else [])


def reference(work: Path, seed: int) -> Path:
    """The folder of an uninterrupted run."""
    folder = work / "reference" / config(seed).hash
    if not folder.exists() and in_child(lambda: run(config(seed), work / "reference")) != 0:
        raise RuntimeError("the uninterrupted run failed")
    return folder


def kills_in_training(work: Path, share: float, chance: random.Random) -> Violations:
    """kill -9 at random moments, one to three times a run, then once more to the end."""
    wrong: Violations = []
    wanted = [config(seed) for seed in range(4)]
    begun = time.monotonic()
    reference(work, 0)
    duration = time.monotonic() - begun
    for turn in range(max(2, round(50 * share))):
        seed, out = turn % 4, work / "kills" / str(turn)
        kills, aim = 0, chance.randint(1, 3)
        while kills < aim:
            code = in_child(lambda: run(wanted[seed], out), chance.uniform(0, duration))  # noqa: B023
            kills += code == -signal.SIGKILL
            if code not in (0, -signal.SIGKILL):
                wrong.append(f"a resumed run ended with {code}")
                break
            if code == 0:  # it was done before it could be killed
                if kills:
                    break
                shutil.rmtree(out)
        counts["kills in training"] += kills
        if in_child(lambda: run(wanted[seed], out)) != 0:  # noqa: B023
            wrong.append(f"{out} could not be finished")
        found = differences(out / wanted[seed].hash, reference(work, seed))
        counts["killed runs that ended bit-identical"] += not found
        counts["killed runs"] += 1
        wrong += found
    return wrong


def kills_at_file_operations(work: Path, share: float, chance: random.Random) -> Violations:
    """kill -9 just before each change of a file, one after the other."""
    wrong: Violations = []
    names = ("fsync", "replace", "rename", "link", "unlink", "open", "ftruncate")
    real = {name: getattr(os, name) for name in names}

    def run_until(operation: int | None, out: Path) -> None:
        done = 0

        def counted(name: str) -> Callable[..., object]:
            def call(*args: object, **given: object) -> object:
                nonlocal done
                done += 1
                if done == operation:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real[name](*args, **given)

            return call

        for name in names:
            setattr(os, name, counted(name))
        run(config(), out)
        if operation is None:
            (work / "operations").write_text(str(done))

    in_child(lambda: run_until(None, work / "counted"))
    total = int((work / "operations").read_text())
    for operation in range(1, total + 1, max(1, round(1 / share / 2))):
        out = work / "operation" / str(operation)
        if in_child(lambda: run_until(operation, out)) != -signal.SIGKILL:  # noqa: B023
            wrong.append(f"operation {operation} was not reached")
        counts["kills at file operations"] += 1
        if in_child(lambda: run(config(), out)) != 0:  # noqa: B023
            wrong.append(f"{out} could not be finished")
        wrong += differences(out / config().hash, reference(work, 0))
    return wrong


SWEEP = """
tasks = ["copy"]
positions = ["rpe-square"]
seeds = "0-3"
steps = {steps}
train_scales = [1, 2]
test_scales = [1, 3]
[set]
{options}
"""


def sweep_file(work: Path) -> Path:
    path = work / "sweep.toml"
    path.write_text(SWEEP.format(steps=STEPS, options="\n".join(f"{key} = {value}" for key, value in TINY.items())))
    return path


def start_sweep(work: Path, out: Path, workers: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "ldhd", "sweep", str(sweep_file(work)), "--out", str(out), "--json"]
    return subprocess.Popen(
        [*command, "--workers", str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end_sweep(process: "subprocess.Popen[str]") -> Violations:
    """What is wrong with how a sweep of four runs ended."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return ["a sweep did not end"]
    if process.returncode != 0 or err:
        return [f"a sweep ended with {process.returncode}: {err}"]
    seeds = [record["seed"] for record in json.loads(out)["runs"]]
    return [] if seeds == [0, 1, 2, 3] else [f"a sweep has records of seeds {seeds}"]


def sweep_differences(work: Path, out: Path) -> Violations:
    if {path.name for path in out.iterdir()} != {config(seed).hash for seed in range(4)}:
        return [f"{out} holds other folders than those of four runs"]
    return [wrong for seed in range(4) for wrong in differences(out / config(seed).hash, reference(work, seed))]


def kill_at_work(process: "subprocess.Popen[str]", out: Path, chance: random.Random) -> bool:
    """Kill a sweep with its workers soon after its next checkpoint; whether it had not ended before."""
    deadline = time.monotonic() + PATIENCE
    before = set(out.glob("*/checkpoints/*"))
    while process.poll() is None and set(out.glob("*/checkpoints/*")) <= before and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(chance.uniform(0, 0.3))
    if process.poll() is None:  # its id is its own until it is waited for
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=PATIENCE)
    return process.returncode == -signal.SIGKILL


def kills_in_sweeps(work: Path, share: float, chance: random.Random) -> Violations:
    """kill -9 of a whole sweep with its workers, up to three times, then once more to the end."""
    wrong: Violations = []
    kills, aim, turn = 0, max(1, round(12 * share)), 0
    while kills < aim and turn < aim:
        out = work / "sweeps" / str(turn)
        for _ in range(3):
            process = start_sweep(work, out, workers=2)
            killed = kill_at_work(process, out, chance)
            kills += killed
            if not killed:  # it was done before it could be killed
                wrong += end_sweep(process)
                break
            process.communicate()
        wrong += end_sweep(start_sweep(work, out, workers=1)) + sweep_differences(work, out)
        turn += 1
    counts["kills of sweeps"] += kills
    return wrong if kills >= aim else [*wrong, f"only {kills} of {aim} sweeps could be killed"]


def sweeps_on_one_folder(work: Path, share: float, chance: random.Random) -> Violations:
    """Three at once; one of them is killed on the way, unless it had nothing left to do."""
    wrong: Violations = []
    for turn in range(max(1, round(4 * share))):
        out = work / "shared" / str(turn)
        processes = [start_sweep(work, out, workers=1) for _ in range(3)]
        if kill_at_work(processes[0], out, chance):
            counts["kills of one sweep of three"] += 1
            processes.pop(0).communicate()
        wrong += [found for process in processes for found in end_sweep(process)]
        wrong += sweep_differences(work, out)
        counts["groups of three sweeps on one folder"] += 1
    return wrong


def clocks(work: Path, share: float, chance: random.Random) -> Violations:
    """Processes that want the same run while wall clocks and times of modification jump: one works at a time."""
    wrong: Violations = []
    for turn in range(max(1, round(10 * share))):
        out, log = work / "clocks" / str(turn), work / f"clock-{turn}"
        wanted = config(turn % 4)

        def work_on(real: Callable[..., object] = runner._run, log: Path = log, turn: int = turn) -> None:
            dice = random.Random(f"{turn} {os.getpid()}")
            time.time = lambda: dice.uniform(0, 4e9)

            def logged(*args: object, **given: object) -> object:
                with log.open("a") as file:
                    file.write(f"begin {os.getpid()}\n")
                found = real(*args, **given)
                with log.open("a") as file:
                    file.write(f"end {os.getpid()}\n")
                return found

            runner._run = logged
            run(wanted, out)  # noqa: B023

        children = []
        for _ in range(4):
            children.append(os.fork())
            if children[-1] == 0:
                code = 1
                with contextlib.suppress(BaseException):
                    work_on()
                    code = 0
                os._exit(code)
        deadline = time.monotonic() + PATIENCE
        left = set(children)
        while left and time.monotonic() < deadline:
            for pid in list(left):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    left.discard(pid)
                    wrong += ["a process failed"] if status else []
            with contextlib.suppress(OSError):
                when = chance.randrange(0, 4 * 10**18)
                os.utime(out / wanted.hash / "lease", ns=(when, when))
            time.sleep(0.003)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            wrong.append("a process waited for ever")
        lines = [line.split()[0] for line in log.read_text().splitlines()]
        if lines != ["begin", "end"]:
            wrong.append(f"processes worked on one run like this: {lines}")
        wrong += differences(out / wanted.hash, reference(work, turn % 4))
        counts["runs wanted by four processes with wild clocks"] += 1
    return wrong


def full_disks(work: Path, share: float, chance: random.Random) -> Violations:
    """Files cannot grow beyond some size: one line and exit code 2; without the limit the run ends as ever."""
    wrong: Violations = []
    for turn in range(max(2, round(30 * share))):
        wanted, out = config(turn % 4), work / "disks" / str(turn)
        limit, messages = chance.choice([0, 50, 500, 2000, 9000, 20_000, 60_000]), work / f"messages-{turn}"

        def limited(out: Path = out, limit: int = limit, messages: Path = messages, seed: int = wanted.seed) -> None:
            # what is said goes through a pipe, since files are limited
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                os.dup2(writer, 2)
                sys.stderr = os.fdopen(writer, "w", buffering=1)
                sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
                given = [f"--set={key}={value}" for key, value in TINY.items()]
                given += ["--train-scales", "1-2", "--test-scales", "1,3", "--steps", str(STEPS), "--seeds", str(seed)]
                code = 1
                try:
                    main(["run", "copy", "--position", "rpe-square", "--out", str(out), *given])
                except SystemExit as ended:
                    code = ended.code if isinstance(ended.code, int) else 1
                finally:
                    os._exit(code)
            os.close(writer)
            messages.write_bytes(os.fdopen(reader, "rb").read())
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

        code, said = in_child(limited), messages.read_text()
        if code != 2 or said.count("\n") != 1 or "Traceback" in said:
            wrong.append(f"a limit of {limit} bytes gave {code} and {said!r}")
        if in_child(lambda: run(wanted, out)) != 0:  # noqa: B023
            wrong.append(f"{out} could not be finished")
        wrong += differences(out / wanted.hash, reference(work, turn % 4))
        counts["full disks"] += 1
    return wrong


def files_in_the_way(work: Path, share: float, chance: random.Random) -> Violations:
    """--out under a regular file."""
    (work / "file").write_text("kept")
    wrong = []
    for arguments in (["run", "copy", "--position", "rpe"], ["sweep", str(sweep_file(work))], ["demo"]):
        code, said = call([*arguments, "--out", str(work / "file" / "runs")])
        if code != 2 or said.count("\n") != 1 or (work / "file").read_text() != "kept":
            wrong.append(f"{arguments} under a file gave {code} and {said!r}")
        counts["outputs under a regular file"] += 1
    return wrong


def call(arguments: list[str]) -> tuple[object, str]:
    """Exit code and standard error of the command line, in this process."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(arguments)
        except SystemExit as ended:
            return ended.code, said.getvalue()
        except BaseException as error:
            return f"{type(error).__name__}: {error}", said.getvalue()
    return None, said.getvalue()


def damage(content: bytes, chance: random.Random) -> bytes:
    """The content with a bit changed, a byte replaced, a piece cut off or out, or zeros in it."""
    place = chance.randrange(len(content))
    end = min(len(content), place + chance.randint(1, 600))
    return chance.choice(
        [
            content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :],
            content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :],
            content[:place],
            content[:place] + content[end:],
            content[:place] + bytes(end - place) + content[end:],
        ]
    )


def corrupted_files(work: Path, share: float, chance: random.Random) -> Violations:
    """Damage at random bytes of every file of a run: a warning or a refusal, and the run is as before in the end."""
    wrong: Violations = []
    original = reference(work, 0)
    names = ["config.json", "record.json", "metrics.jsonl", "model.safetensors", "checkpoints"]
    for turn in range(max(10, round(300 * share))):
        out, name = work / "damage" / str(turn), names[turn % len(names)]
        folder = out / original.name
        shutil.copytree(original, folder)
        path = max((folder / name).iterdir()) if name == "checkpoints" else folder / name
        before = path.read_bytes()
        path.write_bytes(after := damage(before, chance))
        if after == before:
            continue

        def notice(folder: Path = folder, path: Path = path, name: str = name) -> None:
            if name == "checkpoints":
                for gone in ("record.json", "model.safetensors"):
                    (folder / gone).unlink()
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                run(config(), folder.parent)
                load_run(folder)
            # 7: nothing was said, which is right only if the file means what it meant
            sys.exit(0 if [w for w in said if path.name in str(w.message)] else 7)

        code = in_child(notice)
        counts["corrupted files"] += 1
        counts["corrupted files noticed"] += code == 0
        counts["corrupted files that meant the same"] += code == 7
        if code not in (0, 7) or (code == 7 and not same_meaning(folder, original, name)):
            wrong.append(f"{path} was damaged and that gave {code}")
        wrong += [found for found in differences(folder, original) if code == 0]
        shutil.rmtree(out)
    return wrong


def same_meaning(folder: Path, original: Path, name: str) -> bool:
    readers: dict[str, Callable[[Path], object]] = {
        "config.json": lambda place: RunFolder(place).config(),
        "record.json": lambda place: RunFolder(place).record(),
        "metrics.jsonl": lambda place: RunFolder(place).metrics(),
        "model.safetensors": lambda place: {k: v.tolist() for k, v in load_run(place)[2].state_dict().items()},
        "checkpoints": lambda place: (place / "model.safetensors").read_bytes(),
    }
    return readers[name](folder) == readers[name](original)


KEYS = ("tasks", "positions", "task", "position", "seeds", "steps", "model", "device", "set", "runs", "train_scales")
OTHERS = ("test_scales", "copy", "rpe", "none", "x", "0-4", "1,2", "5-1", "train.steps", "model.heads", "colour")
WORDS = st.sampled_from([*KEYS, *OTHERS, "position.max_distance"])
VALUES = st.recursive(
    st.one_of(
        st.integers(-(10**20), 10**20).map(str),
        st.floats().map(str),
        st.sampled_from(["true", "2020-01-01", '""', "nan", "[]", "{}", "''", '"\\u0000"']),
        WORDS.map(json.dumps),
        st.text(max_size=5).map(json.dumps),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.tuples(WORDS, inner).map(lambda pair: f"{{ {pair[0]} = {pair[1]} }}"),
    ),
    max_leaves=5,
)
LINES = st.one_of(
    st.tuples(WORDS, VALUES).map(" = ".join),
    st.sampled_from(["[set]", "[[runs]]", "[runs]", 'tasks = ["copy"]', 'positions = ["rpe"]', "[runs.set]", "#"]),
    st.sampled_from(['task = "copy"', 'position = "rpe"']),
    st.text(max_size=12),
)
SETTINGS = st.tuples(WORDS | st.text(max_size=8), st.sampled_from(["=", ""]), VALUES).map("".join)


def malformed_configs(work: Path, share: float, chance: random.Random) -> Violations:
    """Sweep files and options made up by hypothesis, those that are valid left out: exit code 2 and one line each."""
    wrong: Violations = []
    wanted = max(20, round(1200 * share))
    path = work / "made-up.toml"
    seen: list[str] = []

    def look(arguments: list[str]) -> None:
        code, said = call(arguments)
        counts["malformed configs"] += 1
        if code != 2 or said.count("\n") != 1 or "Traceback" in said or not said.startswith("ldhd: error: "):
            wrong.append(f"{arguments} gave {code} and {said!r}; {path.read_text() if path.exists() else ''!r}")

    usual = settings(
        max_examples=wanted,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )

    @usual
    @given(lines=st.lists(LINES, min_size=1, max_size=6), whole=st.booleans())
    def files(lines: list[str], whole: bool) -> None:
        text = "\n".join((['tasks = ["copy"]', 'positions = ["rpe"]'] if whole else []) + lines)
        try:
            parse_sweep(text, "x")
        except ValueError:
            path.write_bytes(text.encode(errors="replace"))
            look(["sweep", str(path), "--out", str(work / "never")])
            seen.append(text)

    @usual
    @given(pairs=st.lists(SETTINGS, min_size=1, max_size=3), scales=st.sampled_from(["0", "5-1", "x", "", "1-", "1,1"]))
    def options(pairs: list[str], scales: str) -> None:
        given_ = [word for pair in pairs for word in ("--set", pair)]
        look(["run", "copy", "--position", "rpe", "--train-scales", scales, "--out", str(work / "never"), *given_])

    files()
    options()
    if (work / "never").exists():
        wrong.append("a malformed config wrote something")
    for text in chance.sample(seen, min(len(seen), max(1, round(5 * share)))):
        path.write_bytes(text.encode(errors="replace"))
        ended = subprocess.run(
            [sys.executable, "-m", "ldhd", "sweep", str(path)], capture_output=True, text=True, timeout=PATIENCE
        )
        counts["malformed configs in processes of their own"] += 1
        if ended.returncode != 2 or ended.stderr.count("\n") != 1 or ended.stdout:
            wrong.append(f"{text!r} gave {ended.returncode} and {ended.stderr!r}")
    return wrong


PARTS = (
    kills_in_training,
    kills_at_file_operations,
    corrupted_files,
    full_disks,
    clocks,
    kills_in_sweeps,
    sweeps_on_one_folder,
    files_in_the_way,
    malformed_configs,
    torture_hostile.hostile_folders,
    torture_hostile.strange_files,
    torture_owners.stopped_owners,
    torture_owners.clones,
)


def torture(share: float = 1.0, names: Sequence[str] = ()) -> int:
    """The parts named, or all; the number of violations."""
    total = 0
    with tempfile.TemporaryDirectory(prefix="ldhd-torture-") as name:
        for part in [part for part in PARTS if not names or part.__name__ in names]:
            begun = time.monotonic()
            wrong = part(Path(name), share, random.Random(part.__name__))
            total += len(wrong)
            print(f"{part.__name__.replace('_', ' ')}: {len(wrong)} violations, {time.monotonic() - begun:.0f} s")
            for line in wrong[:10]:
                print(f"  {line}")
    for what, number in (counts + torture_hostile.counts + torture_owners.counts).items():
        print(f"{number:6d} {what}")
    print(f"{total:6d} violations")
    return total


if __name__ == "__main__":
    sys.exit(torture(*[float(word) / 100 for word in sys.argv[1:2]], names=sys.argv[2:]) > 0)
