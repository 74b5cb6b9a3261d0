"""The part of the report about one task."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations

from ldhd.report.figures.accuracy import accuracy_figure
from ldhd.report.interactive import carry_figure, digit_figure, error_figure
from ldhd.report.interactive_courses import training_figure
from ldhd.report.look import Look
from ldhd.report.markup import Page, counted, listed, pill, swatch, table
from ldhd.report.render_plotly import to_plotly
from ldhd.report.runs import Runs
from ldhd.report.statistics import Mean, paired
from ldhd.report.summary import Cell
from ldhd.report.table import percent
from ldhd.report.traces import string_section
from ldhd.report.training import FATES, Course, course, explanation

MOST_PAIRS, MOST_MAPS = 10, 12
"""What is shown at once; the rest unfolds."""


def task_section(
    page: Page, cells: Sequence[Cell], styles: Sequence[Look], anchors: Mapping[str, str], runs: Runs
) -> str:
    """Everything about one task; `anchors` maps a cell's label to its place in the list of runs."""
    task, train = cells[0].task, cells[0].train_scales
    seeds = "".join(
        f'<button data-role="{role}" aria-pressed="true">{text}</button>'
        for role, text in (("seeds", "every seed"), ("band", "95 % bands"))
    )
    caption = (
        "Mean over seeds with its 95 % interval; small points are single seeds, crosses those that did not fit. "
        '<span class="screen">Choose embeddings in the legend; a click on a point leads to its run.</span>'
    )
    parts = [
        f"<h2><code>{escape(task)}</code></h2>",
        f'<p class="note">Trained on scales {_range(train)}; {listed(_finding(cells))}.</p>',
        page.figure(to_plotly(accuracy_figure(cells, styles, links=anchors), 430), caption, seeds),
        _statistics(cells, styles, anchors),
        _comparison(cells),
    ]
    digits = digit_figure(cells, styles)
    if digits:
        parts.append("<h3>Token by token</h3>")
        parts.append(
            page.figure(digits, "Share of right answer tokens beyond training, mean over seeds with its 95 % interval.")
        )
    parts += [_maps(page, cells), _courses(page, cells, runs), string_section(page, cells, runs)]
    return f'<section id="task-{escape(task)}">{"".join(parts)}</section>'


def _finding(cells: Sequence[Cell]) -> list[str]:
    ordered = sorted(cells, key=lambda cell: -cell.mean(cell.scales[-1]))
    return [
        f"<code>{escape(cell.label)}</code> is right on {percent(cell.mean(scale))} % at scale {scale}"
        for cell, scale in ((cell, cell.scales[-1]) for cell in ordered[:6])
    ]


def _statistics(cells: Sequence[Cell], styles: Sequence[Look], anchors: Mapping[str, str]) -> str:
    """For each cell: how many seeds fit, mean and interval at telling scales, success rate, verdict."""
    scales = telling_scales(cells)
    headers = ["embedding", "fitted", *(f"scale {scale}" for scale in scales), "success rate", "measured"]
    rows = []
    for cell, look in zip(cells, styles, strict=True):
        success = cell.success()
        rate = f"{success.successes}/{success.n}<small>{interval_text(success.low, success.high)}</small>"
        name = f'{swatch(look.colour)}<a href="#{anchors[cell.label]}"><code>{escape(cell.label)}</code></a>'
        values = [mean_text(cell.interval(scale)) if cell.exact(scale) else "" for scale in scales]
        rows.append([name, f"{cell.fitted}/{len(cell.records)}", *values, rate, pill(cell.verdict())])
    note = (
        "Exact match in %, mean over all seeds and, below it, its 95 % interval. A seed succeeds if it fits and is "
        "right on at least 90 % at the largest test scale. The verdict looks at the median of the fitted seeds there."
    )
    return table(headers, rows) + f'<p class="note">{note}</p>'


def telling_scales(cells: Sequence[Cell]) -> list[int]:
    """The largest training scale, the first beyond, one in the middle, the largest."""
    scales = sorted({scale for cell in cells for scale in cell.scales})
    limit = max(cells[0].train_scales)
    within, beyond = [scale for scale in scales if scale <= limit], [scale for scale in scales if scale > limit]
    return sorted({*within[-1:], *beyond[:1], *beyond[len(beyond) // 2 : len(beyond) // 2 + 1], *beyond[-1:]})


def _comparison(cells: Sequence[Cell]) -> str:
    """Every pair of cells at the largest test scale they share, over the seeds they share."""
    rows = []
    for first, second in combinations(cells, 2):
        common = sorted(set(first.scales) & set(second.scales))
        found = paired(first.by_seed(common[-1]), second.by_seed(common[-1])) if common else None
        if not found:
            continue
        if found.difference.value < 0:
            first, second = second, first
            found = paired(first.by_seed(common[-1]), second.by_seed(common[-1]))
            assert found is not None
        mean = found.difference
        bounds = "" if mean.low is None or mean.high is None else f"{100 * mean.low:+.1f} to {100 * mean.high:+.1f}"
        names = f"<code>{escape(first.label)}</code> &minus; <code>{escape(second.label)}</code>"
        outcome = f"{found.wins} : {found.losses}"
        rows.append(
            [
                names,
                str(common[-1]),
                f"{100 * mean.value:+.1f}",
                bounds,
                str(len(found.seeds)),
                outcome,
                f"{found.p:.3g}",
            ]
        )
    if not rows:
        return ""
    headers = ["difference", "scale", "mean, points", "95 % interval", "seeds", "better : worse", "sign test p"]
    shown = table(headers, rows, (1, 2, 3, 4, 5, 6))
    if len(rows) > MOST_PAIRS:
        shown = f"<details><summary>{counted(len(rows), 'pair')}</summary>{shown}</details>"
    note = "With the same seed both answer the same questions. The sign test is exact and two-sided; ties are left out."
    if min(int(row[4]) for row in rows) < 6:
        note += " With fewer than six seeds it cannot fall below 0.05."
    return f'<h3>Paired by seed</h3><p class="note">{note}</p>{shown}'


def _maps(page: Page, cells: Sequence[Cell]) -> str:
    shown = [page.figure(error_figure(cell), f"<code>{escape(cell.label)}</code>") for cell in cells]
    text = "Share of wrong tokens by scale and place in the answer, over all seeds; the stronger, the more are wrong."
    result = f'<h3>Where the errors are</h3><p class="note">{text}</p>{_grid(shown)}'
    carries = [(cell, carry_figure(cell)) for cell in cells]
    drawn = [page.figure(figure, f"<code>{escape(cell.label)}</code>") for cell, figure in carries if figure]
    if drawn:
        text = (
            "The same by the number of digits the carry into a token has come through, at all scales beyond training."
        )
        result += f'<h3>Errors by carry</h3><p class="note">{text}</p>{_grid(drawn)}'
    return result


def _courses(page: Page, cells: Sequence[Cell], runs: Runs) -> str:
    """How each seed trained, and in words what went wrong with those that failed."""
    drawn, reasons, any_failed = [], [], False
    for cell in cells:
        courses = [course(record, cell, runs.metrics(record.hash)) for record in cell.records]
        figure = training_figure(courses)
        if figure:
            drawn.append(page.figure(figure, f"<code>{escape(cell.label)}</code>"))
        any_failed = any_failed or any(one.fate != "right" for one in courses)
        reasons += [_reason(cell, unlucky, courses) for unlucky in courses if unlucky.fate == "not fitted"]
    if not drawn:
        return ""
    legend = ", ".join(f"{swatch(colour)}{name} ({dash})" for name, (colour, dash) in FATES.items())
    text = (
        "Over training steps, a line for each seed: exact match at the largest training scale (fit); the entropy of "
        "the anchor weights in nats, low where each position has chosen one token; the attention on the needed token "
        "that gets least (weakest slot). What a run did not keep is not drawn."
    )
    listing = f"<ul>{''.join(reasons)}</ul>" if reasons else ""
    title = "Why a seed failed" if any_failed else "How the seeds trained"
    return f'<h3>{title}</h3><p class="note">{text}</p><p class="note">{legend}</p>{listing}{_grid(drawn)}'


def _reason(cell: Cell, unlucky: Course, courses: Sequence[Course]) -> str:
    record = unlucky.record
    text = escape(explanation(unlucky, courses)) or "nothing was kept of its training"
    link = f'<a href="#run-{escape(record.hash)}"><code>{escape(cell.label)}</code> seed {record.seed}</a>'
    return f"<li>{link} did not fit; at its end {text}.</li>"


def _grid(figures: Sequence[str]) -> str:
    """Figures beside each other; those beyond a dozen unfold."""
    first, rest = figures[:MOST_MAPS], figures[MOST_MAPS:]
    more = (
        f'<details><summary>{len(rest)} more</summary><div class="grid">{"".join(rest)}</div></details>' if rest else ""
    )
    return f'<div class="grid">{"".join(first)}</div>{more}'


def mean_text(mean: Mean) -> str:
    bounds = "one seed" if mean.low is None or mean.high is None else interval_text(mean.low, mean.high)
    return f"{percent(mean.value)}<small>{bounds}</small>"


def interval_text(low: float, high: float) -> str:
    return f"{percent(low)}–{percent(high)}"  # noqa: RUF001


def _range(scales: Sequence[int]) -> str:
    whole = list(scales) == list(range(scales[0], scales[-1] + 1)) and len(scales) > 1
    return f"{scales[0]}–{scales[-1]}" if whole else ", ".join(map(str, scales))  # noqa: RUF001
