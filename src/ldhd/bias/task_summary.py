"""What the cells of `ldhd bias-task` that differ in their seed alone have in common: means over seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ldhd.bias.cells import Row


@dataclass(frozen=True)
class PartMeans:
    """One answer token, as means over seeds at one time of training."""

    name: str
    trained: bool
    degrees: dict[str, int]
    """The degrees of the concept and of the references."""
    fitted: int
    """The seeds that fit on the points trained on."""
    error: float
    leakage: float | None
    mean_degree: float
    """The mean degree of a character under the squared Fourier weight."""
    agreement: dict[str, float]
    """With the concept and each reference, on the points not trained on."""
    distance: dict[str, float]
    missing: dict[str, str]


@dataclass(frozen=True)
class Group:
    """Cells that differ in their seed alone."""

    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """What the cells have in common, in words."""
        row = self.rows[0]
        priming = f", primed words: {row['priming']}" if row["priming"] else ""
        settings = "".join(f", {key}={value}" for key, value in row["settings"].items())
        scales = f"trained on scales 1-{row['train_scale']} of {row['scale']}"
        return f"{row['task']}, {row['position']}, {scales}{priming}{settings}"

    @property
    def seeds(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int | None:
        """The width that was set, None for the usual one."""
        found: int | None = self.rows[0]["settings"].get("model.dimension")
        return found

    @property
    def steps(self) -> list[int]:
        """The steps at which the cells were measured."""
        return [moment["step"] for moment in self.rows[0]["path"]]

    @property
    def exact(self) -> dict[str, float]:
        """The share of right answers at each scale at the end; none on the cube of steps."""
        last = [row["path"][-1].get("exact", {}) for row in self.rows]
        return {scale: fmean(one[scale] for one in last) for scale in last[0]}

    @property
    def parts(self) -> list[PartMeans]:
        """The parts at the end of training."""
        return self.at(-1)

    def at(self, moment: int) -> list[PartMeans]:
        """Return the parts at one of the times."""
        described = self.rows[0]["parts"]
        found = [row["path"][moment]["parts"] for row in self.rows]
        return [_means(own, [parts[place] for parts in found]) for place, own in enumerate(described)]


def groups(rows: Sequence[Row]) -> list[Group]:
    """Return the groups in the order in which they first occur."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        key = {name: value for name, value in row.items() if name in KEYS}
        found.setdefault(repr(sorted(key.items())), []).append(row)
    return [Group(own) for own in found.values()]


KEYS = ("task", "position", "cube", "train_scale", "scale", "base", "priming", "settings")
"""What is equal within a group."""


def _means(part: Row, runs: Sequence[Row]) -> PartMeans:
    def compared(what: str) -> dict[str, float]:
        names = runs[0]["compared"]
        return {
            name: fmean(run["compared"][name][what] for run in runs)
            for name in names
            if runs[0]["compared"][name][what] is not None
        }

    degrees: dict[str, Any] = {name: one["degree"] for name, one in part["references"].items()}
    leaks = [run["leakage"] for run in runs if run["leakage"] is not None]
    return PartMeans(
        name=part["name"],
        trained=part["trained"],
        degrees={"concept": part["degree"], **degrees},
        fitted=sum(run["fitted"] for run in runs),
        error=fmean(run["error"] for run in runs),
        leakage=fmean(leaks) if leaks else None,
        mean_degree=fmean(sum(degree * share for degree, share in enumerate(run["profile"])) for run in runs),
        agreement=compared("agreement"),
        distance=compared("distance"),
        missing=part["missing"],
    )
