"""What a change of the code must not change: losses of short runs, and the JSON of every command.

    python tests/pinned.py record FOLDER      # write them, with whatever `ldhd` the Python path leads to
    python tests/pinned.py compare OLD NEW    # exit code 1, and a line for each difference, unless they agree

Times, paths, commits and versions are left out. Numbers are equal if they differ by rounding alone; everything else
must be the same, but fields and rows may be added. A change that alters results on purpose records the pins before and
after, and says what differs.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = (("copy", "rpe-square"), ("addition", "latent-window"), ("multiplication", "abacus"), ("division", "rpe"))
SHORT = ("--steps", "50", "--seeds", "0-1", "--test-scales", "1-6", "--set", "test_instances=50")
EVERY_STEP = ("--set", "train.evaluate_every=1")
LEFT_OUT = {
    *("seconds", "commit", "command", "version", "machine", "sha256", "report", "figure", "figures", "out"),
    *("folder", "stored", "expected_seconds", "path", "precision"),
}
TOLERANCE = 1e-4
"""Relative, on losses and gradients after up to 50 steps: rounding grows on the way."""

ADDED = -1.0
"""The distance of something that is new, which is counted apart."""

NAMES = ("id", "task", "position", "layers", "preset", "label", "hash", "case")
"""Fields that tell the rows of a list apart, whatever their order."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "tasks": ("tasks",),
    "tasks-copy": ("tasks", "copy", "--scale", "4"),
    "positions": ("positions",),
    "predict-all": ("predict", "all"),
    "predict-far": ("predict", "all", "--test-scales", "1-10,20,50,100"),
    "design-copy": ("design", "copy"),
    "design-addition": ("design", "addition", "--layers", "2"),
    "verify": ("verify",),
    "presets-quick": ("reproduce", "--list"),
    "presets-full": ("reproduce", "--list", "--size", "full"),
    "presets-paper": ("reproduce", "--list", "--size", "paper"),
    "fig1": ("reproduce", "fig1"),
    "fig2a": ("reproduce", "fig2a", "--steps", "20"),
    "measured-full": ("predict", "all", "--measured", str(ROOT / "results" / "full")),
    "measured-out-of-sample": ("predict", "all", "--measured", str(ROOT / "results" / "out-of-sample")),
    "report": ("report", str(ROOT / "results" / "copy")),
}
TABLES = ("peers", "ablation", "depth", "matrix")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("record").add_argument("folder", type=Path)
    compared = actions.add_parser("compare")
    compared.add_argument("old", type=Path)
    compared.add_argument("new", type=Path)
    arguments = parser.parse_args()
    if arguments.action == "record":
        record(arguments.folder)
        return 0
    return compare(arguments.old, arguments.new)


def record(folder: Path) -> None:
    """Write a JSON file for each pin."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for task, position in RUNS:
            found = ldhd("run", task, "--position", position, *SHORT, *EVERY_STEP, "--out", "runs")
            for run in found["runs"]:
                name = f"run-{task}-{position}-{run['seed']}"
                write(folder / f"{name}.json", {"record": run, "metrics": metrics(Path("runs") / run["hash"])})
        run = ldhd("run", "copy", "--position", "rpe", *SHORT, "--out", "runs")["runs"][0]["hash"]
        after = {
            "evaluate": ("evaluate", f"runs/{run}", "--test-scales", "1-3,7", "--instances", "40"),
            "show": ("show", f"runs/{run}", "b123="),
            "extend": ("extend", f"runs/{run}", "--steps", "60"),
            "export": ("export", f"runs/{run}", "exported"),
        }
        for name, command in (COMMANDS | after).items():
            write(folder / f"{name}.json", ldhd(*command))
        for name in TABLES:
            text = python(str(ROOT / "results" / "tables.py"), name)
            write(folder / f"table-{name}.json", {"lines": text.splitlines()})


def metrics(run: Path) -> list[dict[str, Any]]:
    """Loss and gradient of every step; the loss that is pinned is the cross-entropy, without penalties."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [
        {
            "step": row["step"],
            "cross_entropy": row.get("cross_entropy", row["loss"]),
            "gradient_norm": row["gradient_norm"],
            "accuracy": row["accuracy"],
        }
        for row in rows
    ]


def ldhd(*arguments: str) -> Any:
    return json.loads(python("-m", "ldhd", *arguments, "--json"))


def python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, check=True, timeout=3600)
    return done.stdout


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(kept(value), indent=1, sort_keys=True) + "\n")
    print(path.name, flush=True)


def kept(value: Any) -> Any:
    """The value without what may differ from run to run."""
    if isinstance(value, dict):
        return {key: kept(item) for key, item in value.items() if key not in LEFT_OUT}
    return [kept(item) for item in value] if isinstance(value, list) else value


def compare(old: Path, new: Path) -> int:
    """Print what differs; 1 if anything does."""
    names = sorted({path.name for path in [*old.glob("*.json"), *new.glob("*.json")]})
    worst, count, added = 0.0, 0, 0
    for name in names:
        if not ((old / name).exists() and (new / name).exists()):
            print(f"{name}: only in {old if (old / name).exists() else new}")
            count += 1
            continue
        before, after = (json.loads((folder / name).read_text()) for folder in (old, new))
        found = list(differences(before, after, name))
        added += sum(distance == ADDED for _, distance in found)
        worst = max([worst, *(distance for _, distance in found if distance < TOLERANCE)])
        beyond = [line for line, distance in found if distance >= TOLERANCE]
        for line in beyond[:10]:
            print(line)
        if len(beyond) > 10:
            print(f"{name}: {len(beyond) - 10} more differences")
        count += len(beyond)
    print(f"{len(names)} files, {count} differences, {added} additions; largest difference by rounding {worst:.1e}")
    return int(count > 0)


def differences(old: Any, new: Any, place: str) -> Iterator[tuple[str, float]]:
    """Where two values differ, with the relative distance of numbers; infinite for everything else."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if key in old and key in new:
                yield from differences(old[key], new[key], f"{place}: {key}")
            elif key in old:
                yield f"{place}: {key} is gone", math.inf
            else:
                yield f"{place}: {key} is new", ADDED
    elif by_name(old) is not None and by_name(new) is not None:
        yield from differences(by_name(old), by_name(new), place)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differences(a, b, f"{place}[{index}]")
    elif type(old) is float and type(new) is float:
        distance = abs(old - new) / max(abs(old), abs(new), 1e-3)
        if distance:
            yield f"{place}: {old} became {new}", distance
    elif old != new:
        yield f"{place}: {old!r} became {new!r}"[:300], math.inf


def by_name(value: Any) -> dict[str, Any] | None:
    """Return the rows of a list by what tells them apart; None if nothing does."""
    if not isinstance(value, list) or not all(isinstance(row, dict) and set(NAMES) & set(row) for row in value):
        return None
    rows = {str([row[name] for name in NAMES if name in row]): row for row in value}
    return rows if len(rows) == len(value) > 0 else None


if __name__ == "__main__":
    sys.exit(main())
