"""The list of runs at the end of the report: config, command and seeds of every cell."""

from collections.abc import Mapping, Sequence
from html import escape

from ldhd.experiments import RunConfig
from ldhd.report.markup import counted, pill, table
from ldhd.report.runs import Runs
from ldhd.report.summary import Cell
from ldhd.report.table import percent
from ldhd.report.training import fate


def run_list(cells: Sequence[Cell], found: Runs, places: Mapping[tuple[str, str], str]) -> str:
    """Every cell, its runs unfolding, then what failed, is unfinished or could not be read."""
    configs, folders = found.configs, found.folders
    listed = "".join(_cell(cell, places[cell.task, cell.label], configs, folders) for cell in cells)
    parts = [
        _lines("Failed", [f"{folder}: {reason}" for folder, reason in found.failed.items()]),
        _lines("Unfinished", [str(folder) for folder in found.unfinished]),
        _lines("Could not be read", found.problems),
    ]
    none = "" if cells else "<p>There are no finished runs here.</p>"
    return f'<section id="runs"><h2>Runs</h2>{none}{listed}{"".join(parts)}</section>'


def _cell(cell: Cell, place: str, configs: Mapping[str, RunConfig], folders: Mapping[str, object]) -> str:
    scale = cell.scales[-1]
    commands = list(dict.fromkeys(record.command for record in cell.records))
    rows = []
    for record in cell.records:
        exact = record.exact(scale)
        row = [f"<code>{escape(record.hash)}</code>", str(record.seed), pill(fate(record, cell))]
        row += ["" if exact is None else f"{percent(exact)} %", f"{record.seconds:.0f}", str(record.steps)]
        row += [f"<code>{escape((record.commit or 'unknown')[:10])}</code>", escape(record.version)]
        row += [str(commands.index(record.command) + 1)] if len(commands) > 1 else []
        rows.append([*row, f"<code>{escape(str(folders[record.hash]))}</code>"])
    headers = ["hash", "seed", "", f"scale {scale}", "seconds", "steps", "commit", "version"]
    headers += ["command"] if len(commands) > 1 else []
    ids = [f"run-{record.hash}" for record in cell.records]
    numbered = commands if len(commands) == 1 else [f"{k}: {command}" for k, command in enumerate(commands, start=1)]
    shown = escape("\n".join(command or "(none recorded)" for command in numbered))
    config = configs[cell.records[0].hash].model_dump_json(indent=1, exclude={"seed"})
    return (
        f'<details id="{place}"><summary><code>{escape(cell.task)}</code> <code>{escape(cell.label)}</code>, '
        f"{counted(len(cell.records), 'run')}</summary>{table([*headers, 'folder'], rows, (3, 4, 5), ids)}"
        f"<p class='note'>command</p><pre>{shown}</pre>"
        f"<details><summary>config, the same for all but the seed</summary><pre>{escape(config)}</pre></details>"
        "</details>"
    )


def _lines(title: str, lines: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<h3>{title}</h3><ul class="problems">{items}</ul>' if lines else ""
