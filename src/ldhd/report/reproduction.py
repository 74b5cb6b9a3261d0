"""The paper's figures, drawn from the records of their presets, and the tables beside them."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from ldhd.bench.ratio import machine
from ldhd.experiments import Record, RunConfig
from ldhd.experiments.presets import PRESETS, SIZES, Preset
from ldhd.experiments.reproduction import document, kind_of, stored
from ldhd.files import write_json
from ldhd.names import lookup_only
from ldhd.report.plot import COLOURS, save_figure
from ldhd.report.table import plain_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {
    "rpe-square": "RPE-Square",
    "rpe-absolute": "RPE-Absolute",
    "rpe": "RPE",
    "rope": "RoPE",
    "none": "NoPE",
    "alibi": "ALiBi",
    "abacus": "Abacus",
}
"""As the paper writes them."""


def write_reproduction(
    name: str, size: str, configs: Sequence[RunConfig], records: Sequence[Record], out: Path, command: str
) -> dict[str, Any]:
    """Draw a preset's figure as PNG and PDF, and write what came of it beside."""
    preset, own = PRESETS[name], {config.hash for config in configs}
    found = [record for record in records if record.hash in own]
    paths: list[Path] = []
    if found or preset.view == "plane":
        figure = _figure(preset, configs, found)
        paths = [save_figure(figure, out / f"{name}.{kind}", dpi=150) for kind in ("png", "pdf")]
    written = document(name, size, configs, found, command=command, machine=machine())
    write_json(out / f"{name}.json", written)
    return {**written, "figures": [str(path) for path in paths]}


def reproduction_view(written: dict[str, Any]) -> RenderableType:
    """Exact match at the largest scale beside the paper's claim."""
    told = [f"{written['preset']}: {written['title']}", f"the paper: {written['says']}"]
    told += [f"assumed: {assumed}" for assumed in written["assumed"]]
    parts: list[RenderableType] = [escape(line) for line in told]
    if written["outcomes"]:
        table = plain_table()
        for column in ("", "fitted", "scale", "exact match in %", "the paper", ""):
            table.add_column(column)
        for outcome in written["outcomes"]:
            agrees = {True: "as the paper says", False: "not as the paper says", None: ""}[outcome["agrees"]]
            claim = "" if outcome["claim"] == "untold" else outcome["claim"]
            fitted, exact = f"{outcome['fitted']}/{outcome['seeds']}", f"{100 * outcome['exact']:.1f}"
            table.add_row(outcome["label"], fitted, str(outcome["scale"]), exact, claim, agrees)
        parts.append(table)
    parts += [escape(f"figure: {path}") for path in written["figures"]]
    return Group(*parts, "")


def preset_table(size: str) -> Table:
    """Every preset with its number of runs, the time its training takes, and its stored result."""
    seeds = lookup_only(size, SIZES, "size")
    table = plain_table(f"presets, size {size} (seeds {', '.join(map(str, seeds))})")
    for column in ("name", "what", "runs", "training", "stored result"):
        table.add_column(column, overflow="fold")
    for name, row in ((row["preset"], row) for row in preset_rows(size)):
        seconds = row["expected_seconds"]
        time = "seconds" if not row["runs"] else "not measured" if seconds is None else _about(seconds)
        table.add_row(name, escape(row["title"]), str(row["runs"]), time, row["stored"] or "none")
    cores = "training times are sums over runs of one core each"
    table.caption = (
        cores if size == "quick" else f"{cores}; those of size full are the stored quick ones times the seeds"
    )
    return table


def preset_rows(size: str) -> list[dict[str, Any]]:
    """What `preset_table` shows."""
    rows = []
    for name, preset in PRESETS.items():
        quick, own = stored(name, "quick"), stored(name, size)
        known = own or (quick if size == "full" else None)
        factor = 1 if known is own else len(SIZES[size])
        rows.append(
            {
                "preset": name,
                "title": preset.title,
                "says": preset.says,
                "runs": len(preset.configs(size)),
                "expected_seconds": None if known is None else factor * known["seconds"],
                "stored": None if own is None else _in_short(own),
                "assumed": list(preset.assumed) if size == "paper" else [],
            }
        )
    return rows


def _in_short(document: dict[str, Any]) -> str:
    """`rpe-square 100, rpe 0 (not fitted)` and so on, at the largest scale."""
    return (
        ", ".join(
            f"{found['label']} {100 * found['exact']:.0f}" + ("" if found["fitted"] else " (not fitted)")
            for found in document["outcomes"]
        )
        or "drawn"
    )


def _about(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else str(timedelta(seconds=round(seconds)))


def _figure(preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]) -> "Figure":
    from matplotlib.figure import Figure

    if preset.view == "plane":
        from ldhd.report.plane import plane_figure

        return plane_figure()
    by_hash = {record.hash: record for record in records}
    kinds: dict[str, list[Record]] = {}
    for config in configs:
        if config.hash in by_hash:
            kinds.setdefault(kind_of(preset, config), []).append(by_hash[config.hash])
    panels = _panels(preset, kinds)
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.5 * columns + 0.4, 2.5 * rows + 0.9), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True).flat
    for axes, (title, lines) in zip(grid, panels.items(), strict=False):
        draw = _draw_digits if preset.view == "digits" else _draw_curves
        draw(axes, lines)
        axes.set_title(title, loc="left", fontsize=10)
    for axes in list(grid)[len(panels) :]:
        axes.set_axis_off()
    figure.suptitle(preset.title, x=0.01, ha="left", fontsize=11)
    return figure


def _panels(preset: Preset, kinds: dict[str, list[Record]]) -> dict[str, dict[str, list[Record]]]:
    """Title -> label of a line -> its records."""
    panels: dict[str, dict[str, list[Record]]] = {}
    for kind, found in kinds.items():
        name = NAMES.get(found[0].position, found[0].position)
        fitted = sum(record.fitted for record in found)
        state = "" if fitted == len(found) else " (not fitted)" if not fitted else f" ({fitted} of {len(found)} fitted)"
        if preset.view == "shares":
            share = kind.rsplit(", ", 1)[1]
            panels.setdefault(name, {})[f"{share}{state}"] = found
        elif preset.view == "tasks":
            panels.setdefault(f"{kind}, {name}{state}", {})[kind] = found
        else:
            panels.setdefault(f"{name}{state}", {})[kind] = found
    return panels


def _draw_curves(axes: "Axes", lines: dict[str, list[Record]]) -> None:
    """Exact match against scale: every seed thin, the mean thick, the training range shaded."""
    from matplotlib import colormaps
    from matplotlib.ticker import PercentFormatter

    first = next(iter(lines.values()))[0]
    axes.axvspan(min(first.train_scales) - 0.5, max(first.train_scales) + 0.5, color="0.92", lw=0)
    for index, (label, found) in enumerate(lines.items()):
        shade = colormaps["viridis"](0.85 * index / max(len(lines) - 1, 1))
        colour = COLOURS.get(found[0].position, "#7F7F7F") if len(lines) == 1 else shade
        scales = [result.scale for result in found[0].results]
        for record in found:
            axes.plot(scales, [result.exact for result in record.results], color=colour, lw=0.8, alpha=0.45)
        means = [sum(record.results[k].exact for record in found) / len(found) for k in range(len(scales))]
        axes.plot(scales, means, color=colour, marker="o", ms=4, lw=2, label=label)
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlim(min(scales) - 0.5, max(scales) + 0.5)
    axes.set_xticks(scales if len(scales) <= 12 else scales[::2])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("scale")
    axes.set_ylabel("exact match")
    axes.spines[["top", "right"]].set_visible(False)
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=8, title="share of scale 5", title_fontsize=8)


def _draw_digits(axes: "Axes", lines: dict[str, list[Record]]) -> None:
    """Accuracy of each answer token at the scales beyond training, the mean over seeds."""
    from matplotlib.ticker import PercentFormatter

    (found,) = lines.values()
    beyond = [r.scale for r in found[0].results if r.scale > max(found[0].train_scales)]
    for scale, style in zip(beyond, ("-", "--", ":", "-."), strict=False):
        rows = [result.per_position for record in found for result in record.results if result.scale == scale]
        longest = max(map(len, rows))
        means = [sum(r[k] for r in rows if k < len(r)) / sum(k < len(r) for r in rows) for k in range(longest)]
        axes.plot(
            range(longest), means, ls=style, marker="o", ms=4, color=COLOURS["rpe-square"], label=f"scale {scale}"
        )
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("digit $z_k$, the last one `e`")
    axes.set_ylabel("accuracy")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
