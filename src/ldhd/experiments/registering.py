"""Registering predictions for the runs of a sweep, before these runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ldhd.experiments.baselines import baseline_verdicts, learned_name_rule
from ldhd.experiments.config import RunConfig
from ldhd.experiments.groups import group_runs
from ldhd.experiments.predictions import entry, predict_configs
from ldhd.experiments.registered import Entry, find_entry, parse_entries
from ldhd.experiments.studies import FinishedRun
from ldhd.files import write_bytes


def new_entries(
    configs: Sequence[RunConfig], known: Sequence[Entry], measured: Sequence[FinishedRun]
) -> Iterator[dict[str, Any] | None]:
    """Yield an entry for each setting of a sweep, None for a setting that has one; the first one stays.

    `measured` are the runs from which the baseline learns its rule on the name of the embedding.
    """
    groups = group_runs([run.record for run in measured], {run.config.hash: run.config for run in measured})
    rules = {scale: learned_name_rule(groups, scale) for scale in {config.test_scales[-1] for config in configs}}
    for config, (found, options) in predict_configs(configs):
        baselines = baseline_verdicts(config.position, rules[config.test_scales[-1]])
        yield entry(found, options, baselines) if find_entry(known, config) is None else None


def registered_entries(file: Path) -> list[Entry]:
    """Return the entries of a file of predictions, none if it does not exist."""
    return parse_entries(file.read_text(), str(file)) if file.exists() else []


def write_entries(file: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write one line for each prediction, so that versions can be compared."""
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    write_bytes(file, f'{{"predictions": [\n{lines}\n]}}\n'.encode())
