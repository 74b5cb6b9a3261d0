"""The table of a score, and the leaderboard of stored scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ldhd.files import BadFileError, load_json
from ldhd.report.terminal import Output, numeric, percent, plain_table
from ldhd.score.scoring import Score

COLUMNS = (10, 100, 1000)
"""The scales that the leaderboard shows."""


def show_score(found: Score) -> Output:
    """Show a score as a table by scale."""
    rows = [
        (one.scale, one.random.n, _cell(one.random.exact), one.hard.n, _cell(one.hard.exact)) for one in found.scales
    ]
    columns = numeric("scale", "random", "exact match", "hard", "exact match")
    title = f"{found.model} on {found.task}, suite {found.suite}: exact match in %"
    size = "unknown" if found.parameters is None else f"{found.parameters:,}"
    lines = f"parameters: {size}; factor {found.factor:g} over scale {found.trained_to}; {found.seconds:.1f} s"
    return found.document(), [plain_table(title, columns, rows), lines]


def leaderboard(folder: Path) -> tuple[str, int]:
    """Return the leaderboard of the scores in a folder as Markdown, and how many there are."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: there is no such folder")
    scores = [_read(path) for path in sorted(folder.glob("*.json"))]
    if not scores:
        raise ValueError(f"{folder} holds no scores; `ldhd score MODEL --task TASK --json` writes one")
    lines = [
        "# Leaderboard",
        "",
        f"Exact match in % on the suite ([score.md](score.md)), made by `ldhd leaderboard {folder}`. Each cell has the "
        "random instances of a scale, then the hard ones.",
    ]
    for task in sorted({one["task"] for one in scores}):
        own = [one for one in scores if one["task"] == task]
        head = ["model", "parameters", "suite", "factor", *(f"scale {scale}" for scale in COLUMNS)]
        lines += ["", f"## {task}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for one in sorted(own, key=lambda one: (-one["factor"], one["model"])):
            size = "" if one["parameters"] is None else f"{one['parameters']:,}"
            cells = [f"`{one['model']}`", size, one["suite"], f"{one['factor']:g}", *_cells(one)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n", len(scores)


def _cells(score: dict[str, Any]) -> list[str]:
    by_scale = {row["scale"]: row for row in score["scales"]}
    return [
        f"{_cell(by_scale[scale]['random']['exact'])}, {_cell(by_scale[scale]['hard']['exact'])}"
        if scale in by_scale
        else "not measured"
        for scale in COLUMNS
    ]


def _read(path: Path) -> dict[str, Any]:
    found = load_json(path)
    missing: Sequence[str] = [
        key for key in ("task", "suite", "model", "parameters", "scales", "factor") if key not in found
    ]
    if missing:
        raise BadFileError(f"{path} is no score: it has no {', '.join(missing)}")
    return found


def _cell(exact: float | None) -> str:
    return "not measured" if exact is None else percent(exact)
