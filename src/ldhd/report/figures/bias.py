"""Figures of measured biases: a map of models and bases, coefficients beside interpolators, leakage, training."""

from collections.abc import Callable, Mapping, Sequence

from ldhd.bias.cells import Row
from ldhd.bias.summary import LIKE, agreements, closest, fitted, interpolators
from ldhd.report.figures.marks import Axis, Band, Bars, Figure, HeatMap, Line, Mark, Panel, Style, Text
from ldhd.report.figures.theory import COLORS, GREY
from ldhd.report.look import position_title

NEAR_TO_FAR = ("#08519c", "#6baed6", "#deebf7", "#ffffff")
FAR = 0.6
"""Distance from which on a cell of a map is white."""
SHOWN_SHARE = 0.02
"""The share of weight that a degree has at some time if it is shown over training."""
TEXT = 7.5
"""Size of the text on a cell."""


def bias_map(rows: Sequence[Row]) -> Figure:
    """Models and bases with the mean distance over concepts; below, for each concept, the basis that is closest.

    Text is white where the model is the interpolator, to `LIKE`.
    """
    models = list(dict.fromkeys(row["model"] for row in rows))
    panels = [_mean_panel(rows, models), _closest_panel(rows, models)]
    return Figure(panels, (11.0, 2.0 + 0.8 * len(models)))


def coefficients(row: Row) -> Figure:
    """The largest Fourier coefficients of what was learned, beside those of the references."""
    chosen, shown = row["coefficients"], [*closest(row), "fourier", "concept"]
    names = [name for name in dict.fromkeys(shown) if all(name in one["references"] for one in chosen)]
    places = [float(place) for place in range(len(chosen))]
    marks: list[Mark] = [Bars(places, [one["mean"] for one in chosen], GREY, f"learned by {row['model']}", 0.7)]
    for name, color, shift in zip(names, COLORS, (-0.2, 0.0, 0.2, 0.3), strict=False):
        style = Style(color=color, dash="", marker="circle", size=7)
        values = [one["references"][name] for one in chosen]
        marks.append(Line([place + shift for place in places], values, style, position_title(name)))
    for place, one in zip(places, chosen, strict=True):
        marks.append(Line([place, place], [one["low"], one["high"]], Style(color="#222222", width=1.2)))
    x = Axis("character", ticks=places, tick_labels=[one["character"] for one in chosen])
    return Figure([Panel(marks, x, Axis("Fourier coefficient"))], (10.0, 4.0), title=_title(row))


def curves(rows: Sequence[Row], axis: str) -> Figure:
    """Leakage, and the distance to the closest interpolator, against `N` or `width`; bars are the range over seeds."""
    beyond = _against(rows, axis, "share of weight beyond $N_0$", lambda row: [run["leakage"] for run in row["runs"]])
    closest_to = _against(rows, axis, "distance to the closest interpolator", _nearest)
    return Figure([beyond, closest_to], (13.0, 4.5), columns=2)


def _nearest(row: Row) -> list[float | None]:
    """The distances of the fitted seeds to the interpolator that is the closest by their mean."""
    names = closest(row)[:1]
    return [run["distances"][name] for name in names for run in row["runs"] if run["fitted"]]


def training_path(row: Row) -> Figure:
    """How distances, the error on the training points, the degree profile and the leakage change with the steps."""
    steps = [moment["step"] for moment in row["path"]]
    errors = [moment["training_error"] for moment in row["path"]]
    marks: list[Mark] = [Line(steps, errors, Style(color=GREY, dash="dash"), "error on the training points")]
    for name, color in zip(row["path"][0]["distances"], (*COLORS, "#222222"), strict=False):
        values = [moment["distances"][name] for moment in row["path"]]
        if None not in values:
            marks.append(
                Line(steps, values, Style(color=color, marker="circle", size=4), f"distance to {position_title(name)}")
            )
    axis = Axis("steps", scale="log", ticks=steps)
    panels = [Panel(marks, axis, Axis("in root mean squares of the labels"))]
    if "profile" in row["path"][0]:  # cells that were measured earlier have means of the leakage alone
        panels.append(Panel(_profile_marks(row), axis, Axis("share of Fourier weight", percent=True)))
    return Figure(panels, (6.5 * len(panels), 4.0), columns=len(panels), title=_title(row))


def _profile_marks(row: Row) -> list[Mark]:
    """The shares of the degrees over training, and the leakage with its range over seeds."""
    steps, marks = [moment["step"] for moment in row["path"]], list[Mark]()
    shares = list(zip(*(moment["profile"] for moment in row["path"]), strict=True))
    shown = [degree for degree, share in enumerate(shares) if max(share) >= SHOWN_SHARE]
    for degree, color in zip(shown, COLORS, strict=False):
        marks.append(Line(steps, shares[degree], Style(color=color, marker="circle", size=4), f"degree {degree}"))
    if row["path"][0]["leakage"] is not None:
        leaks = [moment["leakages"] for moment in row["path"]]
        marks.append(Band(steps, list(map(min, leaks)), list(map(max, leaks)), "#222222"))
        means = [moment["leakage"] for moment in row["path"]]
        marks.append(Line(steps, means, Style(color="#222222", dash="dash"), "beyond $N_0$, with the range over seeds"))
    return marks


def figures(rows: Sequence[Row]) -> Mapping[str, Figure]:
    """Return the figures that these cells allow, by the names of their files."""
    usable = [row for row in rows if "runs" in row]
    found: dict[str, Figure] = {}
    if len({row["model"] for row in rows}) > 1 and usable:
        found["map"] = bias_map(rows)
    for axis in ("N", "width"):
        if _varies(usable, axis):
            found[axis] = curves(usable, axis)
    if len(usable) == 1:
        found["coefficients"] = coefficients(usable[0])
        if len(usable[0]["path"]) > 1:
            found["training"] = training_path(usable[0])
    return found


def _mean_panel(rows: Sequence[Row], models: Sequence[str]) -> Panel:
    names = list(dict.fromkeys(name for row in rows for name in row["bases"]))
    found = {(one.model, one.reference): one.distance for one in agreements(rows)}
    values = [[found[m, n].value if (m, n) in found else None for n in names] for m in models]
    texts = [
        _label(column, line, f"{values[line][column]:.2f} ({found[model, name].n})", values[line][column])
        for line, model in enumerate(models)
        for column, name in enumerate(names)
        if (model, name) in found
    ]
    title = "mean distance to a reference (over so many concepts)"
    return Panel([_heat(values), *texts], _ticks(list(map(position_title, names))), _ticks(models, broken=False), title)


def _closest_panel(rows: Sequence[Row], models: Sequence[str]) -> Panel:
    concepts = list(dict.fromkeys(row["concept"] for row in rows))
    values: list[list[float | None]] = [[None] * len(concepts) for _ in models]
    texts = []
    for row in rows:
        line, column = models.index(row["model"]), concepts.index(row["concept"])
        ranked = interpolators(row)
        if ranked:
            values[line][column] = value = next(iter(ranked.values())).value
            texts.append(_label(column, line, f"{_short(closest(row))}\n{value:.2f}", value))
        elif "runs" in row and not fitted(row):
            texts.append(Text(column, line, "no fit", TEXT, GREY))
    title = "closest interpolator, and its distance"
    return Panel([_heat(values), *texts], _ticks(concepts), _ticks(models, broken=False), title)


def _heat(values: Sequence[Sequence[float | None]]) -> HeatMap:
    return HeatMap(values, NEAR_TO_FAR, 0.0, FAR)


def _label(x: float, y: float, text: str, value: float | None) -> Text:
    return Text(x, y, text, TEXT, "#ffffff" if value is not None and value <= LIKE else "#000000")


def _short(names: Sequence[str]) -> str:
    first = position_title(names[0])
    return first if len(names) == 1 else f"{first} +{len(names) - 1}"


def _ticks(names: Sequence[str], broken: bool = True) -> Axis:
    """Name the rows or columns of a map; `broken` writes long names in two lines."""
    shown = [name.replace("-", "-\n", 1) if broken and len(name) > 9 else name for name in names]
    return Axis(ticks=[float(place) for place in range(len(names))], tick_labels=shown)


def _against(rows: Sequence[Row], axis: str, label: str, values: Callable[[Row], list[float | None]]) -> Panel:
    """The mean over seeds of each model and concept, with the range over seeds."""
    marks: list[Mark] = []
    cases = list(dict.fromkeys((row["concept"], row["model"]) for row in rows))
    for (concept, model), color in zip(cases, COLORS * len(cases), strict=False):
        own = [row for row in rows if (row["concept"], row["model"]) == (concept, model)]
        found = {place: values(row) for row in own if (place := _place(row, axis)) is not None}
        by_place = {place: known for place in sorted(found) if (known := [v for v in found[place] if v is not None])}
        if by_place:
            style = Style(color=color, marker="circle", size=5, dash="solid" if model == cases[0][1] else "dash")
            means = [sum(known) / len(known) for known in by_place.values()]
            marks.append(Line(list(by_place), means, style, f"{concept}, {model}"))
            ends = [[min(known), max(known)] for known in by_place.values()]
            bars = zip(by_place, ends, strict=True)
            marks += [Line([place, place], pair, Style(color=color, width=1.0)) for place, pair in bars]
    places = sorted({place for row in rows if (place := _place(row, axis)) is not None})
    x_axis = Axis("$N$") if axis == "N" else Axis("width", scale="log", ticks=places)
    return Panel(marks, x_axis, Axis(label))


def _varies(rows: Sequence[Row], axis: str) -> bool:
    """Say whether one model was measured on one concept at several `N` or widths."""
    places: dict[tuple[str, str], set[float]] = {}
    for row in rows:
        if (place := _place(row, axis)) is not None:
            places.setdefault((row["concept"], row["model"]), set()).add(place)
    return any(len(found) > 1 for found in places.values())


def _place(row: Row, axis: str) -> float | None:
    found: float | None = row["N"] if axis == "N" else row["settings"].get("width")
    return found


def _title(row: Row) -> str:
    return f"{row['concept']}, trained up to $N_0 = {row['N0']}$ of $N = {row['N']}$"
