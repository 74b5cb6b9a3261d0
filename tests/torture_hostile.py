"""Run folders that somebody made to hurt: parts of `make torture`, see `torture.py`.

Every mutation is made on a whole run whose digests are written again, so that it gets past them. Commands run in
forked processes with limited memory; of each it is checked that it ends in time, in lines that say what is wrong, that
whole runs beside a mutated one are still reported, and that nothing outside is written and nothing imported.
"""

import contextlib
import hashlib
import importlib
import io
import json
import lzma
import os
import random
import resource
import shutil
import signal
import socket
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch

from ldhd.cli import main
from ldhd.experiments import RunConfig, make_config, run
from ldhd.experiments.packing import pack
from ldhd.files import MEBIBYTE, load_json, read_lines, write_json, write_lines
from ldhd.sweep import in_turn, run_sweep
from ldhd.tensors import _digest, read_tensors

Violations = list[str]
counts: Counter[str] = Counter()

TINY = {
    **{"model.dimension": 16, "model.heads": 2, "train.batch_size": 8, "train.samples": 40},
    **{"train.checkpoint_every": 4, "train.evaluate_every": 4, "test_instances": 4},
}
CELLS = (("copy", "rpe-square"), ("addition", "rpe"), ("parity", "fire"))
ROOM = 1024 * MEBIBYTE
"""Memory that one command may take, that of this process with torch included."""
SECONDS, PATIENCE = 10, 120
"""Processor time that one command may take, and time after which a process that waits is killed."""
TOGETHER = 20
"""Mutated runs in one study."""
EVIL = "import pathlib\npathlib.Path(__file__).with_name('IMPORTED').touch()\nX = 1\n"

Json = Any


def config_of(task: str, position: str, seed: int = 0, steps: int = 8) -> RunConfig:
    scales = {"train_scales": (1, 2), "test_scales": (1, 2, 3)}
    return make_config(task, position, steps=steps, seed=seed, settings=TINY, **scales)


class Place:
    """A folder with whole runs to copy from, one that commands start in, and one that nobody may write into."""

    def __init__(self, work: Path):
        self.whole, self.outside, self.work = work / "whole", work / "outside", work
        self.outside.mkdir(parents=True)
        (self.outside / ".record.json.a1b2_c3d").write_text("kept")
        (work / "evil_mod.py").write_text(EVIL)
        for module in (
            "ldhd.report.html",
            "ldhd.report.output",
            "ldhd.report.theory",
            "plotly.offline",
            "torch._dynamo",
        ):
            importlib.import_module(module)  # once, for all processes forked from this one
        os.chdir(work)
        if in_process(lambda: [run(config_of(*cell), self.whole) for cell in CELLS])[0] != 0:
            raise RuntimeError("the runs to mutate could not be made")
        self.folders = sorted(path for path in self.whole.iterdir() if path.is_dir())

    def disturbed(self) -> Violations:
        """What was written outside, and whether a module was imported."""
        wrong = ["a module was imported"] * (self.work / "IMPORTED").exists()
        (self.work / "IMPORTED").unlink(missing_ok=True)
        held = [(path.name, path.read_bytes()) for path in self.outside.iterdir()]
        return wrong + [f"{held} lies outside"] * (held != [(".record.json.a1b2_c3d", b"kept")])


def in_process(action: Callable[[], object]) -> tuple[int | str, float, str]:
    """Do it in a forked process of limited memory; how it ended, its largest memory in MiB, and what it said."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + 2 * ROOM, mapped + 2 * ROOM))
        code = 1
        try:
            action()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    os.set_blocking(reader, False)
    said, deadline = b"", time.monotonic() + PATIENCE
    ended: int | str = "hangs"
    while True:
        with contextlib.suppress(BlockingIOError):
            while block := os.read(reader, 65536):
                said += block
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            ended = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            _, _, used = os.wait4(pid, 0)
            break
        time.sleep(0.005)
    with contextlib.suppress(BlockingIOError):
        while block := os.read(reader, 65536):
            said += block
    os.close(reader)
    return ended, used.ru_maxrss / 1024, said.decode(errors="replace")


def command(*arguments: object) -> tuple[object, str, str]:
    """Exit code, output and errors of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("always")
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            return ended.code, out.getvalue(), err.getvalue()
        except BaseException as error:
            where = "".join(traceback.format_exception(error)[-3:])
            return f"traceback {type(error).__name__}: {error} {where}", out.getvalue(), err.getvalue()
    return None, out.getvalue(), err.getvalue()


def judged(*arguments: object) -> str:
    """Give a command; print a violation unless it ends in time and in plain lines. Returns its output."""
    begun = time.process_time()
    code, out, err = command(*arguments)
    spent = time.process_time() - begun
    lines = err.splitlines()
    plain = all(line.startswith(("ldhd: warning: ", "ldhd: error: ")) and line.isprintable() for line in lines)
    if code not in (0, 1, 2) or not plain or (code == 2) != any(line.startswith("ldhd: error") for line in lines):
        print(f"{arguments} gave {code} and {err[-800:]!r}")
    if spent > SECONDS:
        print(f"{arguments} took {spent:.0f} s")
    if "evil_mod" in sys.modules:
        print(f"{arguments} imported a module")
        del sys.modules["evil_mod"]
    return out if code == 0 else ""


NASTY: tuple[Callable[[random.Random], Json], ...] = (
    lambda dice: dice.choice([None, True, False, "", [], {}, [[]], [{}], 0, -1, 1, 2, -5, 0.5, -0.0, 42.0]),
    lambda dice: dice.choice([10**5, 10**6, 10**9, 10**12, 2**63, 10**30, -(10**30), 1e308, 1e-320, 10**4000]),
    lambda dice: dice.choice([float("nan"), float("inf"), -float("inf")]),
    lambda dice: dice.choice(["\ud800", "\0", "\x1b[31m", "[/x]", "[bold", "$\\frac$", "{{ 7 }}", "</script>", "a\nb"]),
    lambda dice: dice.choice(["evil_mod:X", "evil_mod:X+rpe", "os:system", "../../outside", "/dev/zero", "x" * 10**5]),
    lambda dice: [dice.randrange(-3, 10**6) for _ in range(dice.choice([1, 3, 3000]))],
    lambda dice: dict.fromkeys(map(str, range(dice.choice([1, 3, 3000]))), dice.choice([0, None, "x", []])),
    lambda dice: nested(dice.choice([3, 100, 800, 20_000])),
    lambda dice: [[[dice.random()] * 40] * 40] * dice.choice([1, 2, 40]),
)


def nested(depth: int) -> Json:
    value: Json = 0
    for _ in range(depth):
        value = [value]
    return value


def places(value: Json, path: tuple[Json, ...] = ()) -> list[tuple[Json, ...]]:
    """The path of every value in a document, to a depth that documents have."""
    inside = isinstance(value, dict | list) and len(path) < 8
    items = () if not inside else value.items() if isinstance(value, dict) else enumerate(value)
    return [path] * bool(path) + [place for key, item in items for place in places(item, (*path, key))]


def mutated(value: Json, dice: random.Random) -> Json:
    """A document with a value replaced, removed, repeated, or with one more."""
    try:
        value = json.loads(json.dumps(value))
    except (ValueError, RecursionError):  # an earlier mutation is no JSON
        return value
    if not (found := places(value)):
        return value
    *above, key = dice.choice(found)
    inner = value
    for step in above:
        inner = inner[step]
    kind = dice.random()
    if kind < 0.7:
        inner[key] = dice.choice(NASTY)(dice)
    elif kind < 0.8:
        del inner[key]
    elif isinstance(inner, list):
        inner += [inner[key]] * dice.choice([1, 2, 500])
    else:
        inner[dice.choice(["x", "sha256", "hash", ""])] = dice.choice(NASTY)(dice)
    return value


def write_sealed(path: Path, value: Json) -> None:
    """Write JSON with its digest as far as it has one: nothing is too deep for it, or no object."""
    try:
        write_json(path, value)
    except (ValueError, RecursionError, TypeError):
        text = "[" * 20_000 + "]" * 20_000 if not isinstance(value, list) else "[]"
        path.write_text(f'{{"x": {text}}}')


def mutate_json(folder: Path, name: str, dice: random.Random) -> None:
    value = load_json(folder / name)
    value.pop("sha256", None)
    for _ in range(dice.choice([1, 1, 1, 3])):
        value = mutated(value, dice)
    write_sealed(folder / name, value)


def mutate_consistently(folder: Path, dice: random.Random) -> Path:
    """A config with the record and the weights that agree with it: it has its own hash everywhere."""
    value = load_json(folder / "config.json")
    value.pop("sha256", None)
    value = mutated(value, dice)
    try:
        name = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
    except (ValueError, RecursionError):
        name = folder.name
    write_sealed(folder / "config.json", value)
    record = load_json(folder / "record.json") | {"hash": name}
    record.pop("sha256")
    shared = ("task", "position", "seed", "train_scales")
    write_sealed(folder / "record.json", record | {key: value[key] for key in shared if key in value})
    for path in [folder / "model.safetensors", *(folder / "checkpoints").iterdir()]:
        rewrite_tensors(path, lambda metadata: metadata | {"owner": name}, lambda tensors: tensors)
    return folder.rename(folder.with_name(name)) if not folder.with_name(name).exists() else folder


def rewrite_tensors(path: Path, metadata: Callable[[Json], Json], tensors: Callable[[Json], Json]) -> None:
    found, header = read_tensors(path)
    changed, text = tensors(dict(found)), json.dumps(metadata(header.metadata))
    path.write_bytes(safetensors.torch.save(changed, {"ldhd": _digest(changed, text) + text}))


def mutate_tensors(folder: Path, dice: random.Random) -> None:
    path = dice.choice([folder / "model.safetensors", *(folder / "checkpoints").iterdir()])
    kind = dice.random()
    if kind < 0.4:
        rewrite_tensors(path, lambda value: mutated(value, dice), lambda tensors: tensors)
    elif kind < 0.7:

        def change(tensors: Json) -> Json:
            name = dice.choice(list(tensors))
            tensor = tensors.pop(name)
            others = [tensor.double(), tensor.flatten()[:1].clone(), tensor * float("nan"), tensor.bool()]
            return tensors | {dice.choice([name, name, "x", "optimizer.0.x", "model."]): dice.choice(others)}

        rewrite_tensors(path, lambda metadata: metadata, change)
    else:
        content = path.read_bytes()
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        text = json.dumps(mutated(header, dice)).encode() if kind < 0.9 else content[8 : 8 + size]
        claimed = len(text) if kind < 0.9 else dice.choice([0, 2**20, 2**40, 2**63, size - 1])
        path.write_bytes(claimed.to_bytes(8, "little") + text + content[8 + size :])


def mutate_metrics(folder: Path, dice: random.Random) -> None:
    rows: Json = mutated(read_lines(folder / "metrics.jsonl"), dice)
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        write_lines(folder / "metrics.jsonl", [row if isinstance(row, dict) else {"step": row} for row in rows])


def mutate_bytes(folder: Path, dice: random.Random) -> None:
    names = ("config.json", "record.json", "metrics.jsonl", "trace.json", "model.safetensors")
    path = folder / dice.choice(names)
    content = path.read_bytes()
    if dice.random() < 0.1:
        with path.open("wb") as file:  # a file with a hole, which takes no room on the disk
            file.truncate(dice.choice([2**20, 2**27, 2**33]))
    elif dice.random() < 0.3:
        path.write_bytes(dice.choice([b"[", b"{}", b'{"a":', b"\n", b"[],", b"\xff\xfe"]) * dice.choice([1, 10**6]))
    else:
        place = dice.randrange(len(content))
        path.write_bytes(content[:place] + dice.randbytes(dice.choice([0, 1, 50])) + content[place + 1 :])


def mutate(folder: Path, dice: random.Random) -> Path:
    """Mutate one thing in a copy of a run; its folder, whose name may have changed."""
    kind = dice.random()
    if kind < 0.2:
        return mutate_consistently(folder, dice)
    if kind < 0.65:
        mutate_json(folder, dice.choice(["config.json", "record.json", "record.json", "trace.json"]), dice)
    elif kind < 0.8:
        mutate_metrics(folder, dice)
    elif kind < 0.9:
        with contextlib.suppress(ValueError, RecursionError):  # too deep, or too large, to be written
            mutate_tensors(folder, dice)
    else:
        mutate_bytes(folder, dice)
    return folder


def hostile_folders(work: Path, share: float, dice: random.Random) -> Violations:
    """Runs with something else in one of their files, next to a whole one: opened by every command that opens runs."""
    place, wrong, most = Place(work / "hostile"), Violations(), 0.0
    for turn in range(max(1, round(250 * share))):
        study, runs = place.work / f"study-{turn}", []
        for number in range(TOGETHER):
            source = dice.choice(place.folders)
            copied = shutil.copytree(source, study / f"n{number}" / source.name)
            runs.append(mutate(copied, dice))
        whole = shutil.copytree(place.folders[0], study / "whole" / place.folders[0].name)
        packed = turn % 5 == 0
        if packed:
            mutate_packed(shutil.copytree(place.whole, study / "packed"), dice)

        def open_all(study: Path = study, runs: list[Path] = runs, whole: Path = whole, turn: int = turn) -> None:
            told = judged("report", study, "-o", study / "r.html", "--json")
            if whole.name not in told:
                print(f"report does not hold the whole run: {told[-300:]!r}")
            if (
                str(judged("predict", "copy", "--position", "rpe", "--measured", study, "--json")).count("comparisons")
                != 1
            ):
                print("predict has no comparisons")
            for number, folder in enumerate(runs):
                judged(*(["evaluate", folder, "--test-scales", "1-2"] if number % 2 else ["show", folder, "b12="]))
            judged("extend", runs[turn % TOGETHER], "--steps", "12", "--workers", "1")
            judged("pack", runs[-1].parent)

        ended, memory, said = in_process(open_all)
        most = max(most, memory)
        counts["mutated folders"] += TOGETHER + packed
        if ended != 0 or said or memory > ROOM / MEBIBYTE:
            wrong.append(f"{study.name} ended with {ended}, {memory:.0f} MiB: {said[-1500:]}")
        wrong += place.disturbed()
        if not wrong:
            shutil.rmtree(study)
    counts["largest memory of a process with mutated folders, in MiB"] = round(most)
    return wrong


def mutate_packed(study: Path, dice: random.Random) -> None:
    """A packed study with one line, or one whole file, that is something else."""
    pack(study)
    name = dice.choice(["runs.jsonl", "metrics.jsonl.xz", "traces.jsonl.xz"])
    path = study / name
    content = path.read_bytes() if name == "runs.jsonl" else lzma.decompress(path.read_bytes())
    lines = content.splitlines()
    number = dice.randrange(len(lines))
    kind = dice.random()
    if kind < 0.6:
        with contextlib.suppress(ValueError, RecursionError):
            lines[number] = json.dumps(mutated(json.loads(lines[number]), dice)).encode()
    elif kind < 0.8:
        lines[number] = dice.choice([b"{" * 10**6, b"[" * 10**6, b"", b"\xff", b'{"hash": "x"}', b"\n" * 10**5])
    else:
        lines *= dice.choice([2, 50])
    content = b"\n".join(lines) + (bytes(600 * MEBIBYTE) if name != "runs.jsonl" and kind > 0.97 else b"\n")
    path.write_bytes(content if name == "runs.jsonl" else lzma.compress(content, preset=0))


def socket_at(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def hole_at(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**36)


STRANGE: dict[str, Callable[[Path, Path], object]] = {
    "a folder": lambda path, outside: path.mkdir(),
    "a pipe": lambda path, outside: os.mkfifo(path),
    "a socket": lambda path, outside: socket_at(path),
    "a loop": lambda path, outside: path.symlink_to(path.name),
    "a dangling link": lambda path, outside: path.symlink_to(outside / "made"),
    "a link to a folder": lambda path, outside: path.symlink_to(outside),
    "endless zeros": lambda path, outside: path.symlink_to("/dev/zero"),
    "nothing": lambda path, outside: path.symlink_to("/dev/null"),
    "the memory of a process": lambda path, outside: path.symlink_to("/proc/self/mem"),
    "a file with a hole": lambda path, outside: hole_at(path),
}
DOCUMENTS = ("config.json", "record.json", "metrics.jsonl", "trace.json", "failure.json", "start.json")
FILES = (*DOCUMENTS, "model.safetensors", "lease")
ELSEWHERE = ("checkpoints", "checkpoints/step-00000009.safetensors", ".record.json.a1b2_c3d", "", "../runs.jsonl")


def strange_files(work: Path, share: float, dice: random.Random) -> Violations:
    """Something that is no regular file in the place of each file: told in one line, and the run is done again."""
    place, wrong = Place(work / "strange"), Violations()
    wanted = [config_of(*cell) for cell in CELLS[:2]]
    cases = [(kind, name) for kind in STRANGE for name in (*FILES, *ELSEWHERE)]
    for turn, (kind, name) in enumerate(dice.sample(cases, max(8, round(len(cases) * min(share, 1))))):
        study = shutil.copytree(place.whole, place.work / f"strange-{turn}")
        folder = study / wanted[0].hash
        path = study / "runs.jsonl" if name.startswith("..") else folder / name if name else folder
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        STRANGE[kind](path, place.outside)
        if name != "record.json" and folder.is_dir() and not folder.is_symlink():
            (folder / "record.json").unlink(missing_ok=True)

        def open_all(study: Path = study, folder: Path = folder) -> None:
            for arguments in (["report", study, "-o", study / "r.html"], ["evaluate", folder, "--test-scales", "1"]):
                judged(*arguments)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = run_sweep(wanted, study, in_turn, retries=0)
            if wanted[1].hash not in [record.hash for record in found.records]:
                print("the sweep lost a whole run")
            if len(found.records) + len(found.failures) != 2:
                print(f"the sweep ended with {found}")

        ended, memory, said = in_process(open_all)
        counts["files that are none, in a run"] += 1
        if ended != 0 or said or memory > ROOM / MEBIBYTE:
            wrong.append(f"{kind} as {name or 'the run'}: {ended}, {memory:.0f} MiB: {said[-1500:]}")
        wrong += [f"{kind} as {name}: {found}" for found in place.disturbed()]
        shutil.rmtree(study, ignore_errors=True)
    return wrong
