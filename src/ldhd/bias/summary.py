"""What measured cells add up to: for each model and basis, how far its interpolator is from what is learned."""

from collections.abc import Sequence
from dataclasses import dataclass

from ldhd.bias.cells import Row
from ldhd.statistics import Mean, Share, mean_interval, wilson

LIKE = 0.1
"""A function is taken for an interpolator if it is no farther from it, in root mean squares of the labels."""

CONTROLS = ("concept", "kernel")
"""References that are not min-degree interpolators; nor are those that an expression gives."""


@dataclass(frozen=True)
class Agreement:
    """One model and one reference, over the concepts on which the model fits and the reference exists."""

    model: str
    reference: str
    distance: Mean
    """The mean over concepts of the mean over fitted seeds, with its bootstrap interval over concepts."""
    like: Share
    """The concepts on which the distance is at most `LIKE`."""
    closest: int
    """The concepts on which no other interpolator is closer; ties count for each."""


def distance(row: Row, reference: str) -> Mean | None:
    """Return the mean distance over the fitted seeds of a cell; None if no seed fits or the reference does not exist.

    Seeds that do not fit interpolate nothing, so that no interpolator describes them.
    """
    found = [run["distances"].get(reference) for run in row.get("runs", ()) if run["fitted"]]
    known = [value for value in found if value is not None]
    return mean_interval(known) if known else None


def fitted(row: Row) -> int:
    """Return the number of fitted seeds of a cell."""
    return sum(run["fitted"] for run in row.get("runs", ()))


def interpolators(row: Row) -> dict[str, Mean]:
    """Return the distances to the min-degree interpolators that exist, the smallest first."""
    names = [name for name in row.get("bases", ()) if name not in CONTROLS and name[0] != "="]
    found = {name: value for name in names if (value := distance(row, name)) is not None}
    return dict(sorted(found.items(), key=lambda item: item[1].value))


def closest(row: Row) -> list[str]:
    """Return the bases whose interpolator is closest to what was learned, several if theirs is the same function."""
    found = interpolators(row)
    least = min((value.value for value in found.values()), default=0.0)
    return [name for name, value in found.items() if value.value <= least + 1e-4]


def verdict(row: Row) -> str:
    """Say which interpolators a cell has learned, by name; `none of them`, `does not fit` or `does not apply`."""
    if "error" in row:
        return "does not apply"
    if not fitted(row):
        return "does not fit"
    like = [name for name, value in interpolators(row).items() if value.value <= LIKE]
    return ", ".join(like) or "none of them"


def agreements(rows: Sequence[Row]) -> list[Agreement]:
    """Return the agreement of every model with every reference that exists for it somewhere."""
    found = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        for name in dict.fromkeys(name for row in own for name in row["bases"]):
            values = {i: value.value for i, row in enumerate(own) if (value := distance(row, name)) is not None}
            if not values:
                continue
            like = sum(value <= LIKE for value in values.values())
            share = Share(like, len(values), *wilson(like, len(values)))
            nearest = sum(name in closest(own[i]) for i in values)
            found.append(Agreement(model, name, mean_interval(list(values.values())), share, nearest))
    return found
