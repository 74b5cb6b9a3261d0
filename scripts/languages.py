"""Regular languages: what the C-RASP theory and the predictor say, and what was measured: python scripts/languages.py

The settings are those of sweeps/languages.toml, the runs those of results/languages, if there are any.
"""

from collections import Counter
from pathlib import Path
from statistics import median

from ldhd.experiments.groups import ENOUGH_SEEDS, Group, group_runs
from ldhd.experiments.predictions import predict_configs, prediction_key
from ldhd.experiments.studies import read_runs
from ldhd.sweep.file import read_sweep
from ldhd.tasks.languages import LANGUAGES, Language
from ldhd.theory.c_rasp import in_c_rasp, is_r_trivial, is_star_free

TOP = Path(__file__).parents[1]
LABELLED = {
    **{
        "first": "first",
        "some": "lt1",
        "subsequence": "pt2",
        "dyck-1": "dyck1",
        "dyck-2": "dyck2",
        "crossing": "ab_ba",
    },
    **{"deep": "ABplus_BBAA", "last": "last", "flip-flop": "abe_b_e", "ambiguous": "ABplus_AABB", "drifting": "ab_bba"},
    "parity": "parity",
}
"""The name of a language in the first suite of arXiv 2608.13433, whose label `tests/theory/test_c_rasp.py` compares."""


def table(columns: list[str], rows: list[list[object]]) -> None:
    print("| " + " | ".join(columns) + " |")
    print("| " + " | ".join("---" for _ in columns) + " |")
    for row in rows:
        print("| " + " | ".join(str(value).replace("|", "\\|") for value in row) + " |")
    print()


def told_by(of: Language) -> str:
    """Say which symbols tell the state."""
    automaton = of.automaton
    for k, where in ((automaton.last_symbols, "last"), (automaton.first_symbols, "first")):
        if k is not None:
            return f"the {where} {k}" if k > 1 else f"the {where}"
    return "all, at any length" if automaton.permutes else "content decides"


def other_theory(language: str, position: str) -> str:
    """Return what follows from membership in C-RASP, which is about models without position embedding alone."""
    if position != "none":
        return "-"
    return "generalises" if in_c_rasp(LANGUAGES[language].automaton) else "fails"


def outcome(said: str, measured: str) -> str:
    """Compare a verdict; C-RASP and an open or declined one have no outcome."""
    if said in ("-", "does not apply", "undecided") or measured in ("", "too few seeds"):
        return "-"
    return "right" if said == measured else "wrong"


def show_languages() -> None:
    """Print the languages with what is decided from their automata."""
    rows: list[list[object]] = []
    for name, of in LANGUAGES.items():
        decided = [decide(of.automaton) for decide in (is_r_trivial, is_star_free, in_c_rasp)]
        label = LABELLED.get(name)
        rows.append(
            [name, f"`{of.expression}`", *("yes" if one else "no" for one in decided), label or "-", told_by(of)]
        )
    table(["language", "expression", "R-trivial", "star-free", "in C-RASP", "label", "told by"], rows)


def show_settings() -> None:
    """Print the verdicts of both theories about each setting, and the measured one."""
    configs = read_sweep(TOP / "sweeps" / "languages.toml")
    folder = TOP / "results" / "languages"
    runs = [(run.config, run.record) for run in read_runs(folder)] if folder.is_dir() else []
    groups = group_runs([record for _, record in runs], {config.hash: config for config, _ in runs})
    known = {prediction_key(group.config): group for group in groups}
    rows, counts = [], Counter[tuple[str, str]]()
    for config, (found, _) in predict_configs(configs):
        language, position = config.task.removeprefix("state-"), config.position
        measured, values = _measured(known.get(prediction_key(config)))
        said = {"C-RASP": other_theory(language, position), "predictor": found.verdict}
        told = [outcome(verdict, measured) for verdict in said.values()]
        if measured == "does not fit" and position == "none":
            told[0] = "-"  # it says nothing about fitting
        counts.update(zip(said, told, strict=True))
        counts["both speak", "/".join(told)] += "-" not in told
        rows.append([language, position, config.model_options.layers, *said.values(), values or "not run", *told])
    columns = ["language", "embedding", "layers", "C-RASP", "predictor", "measured", "C-RASP is", "predictor is"]
    table(columns, rows)
    for (whose, told), count in sorted(counts.items()):
        if told != "-" and count:
            print(f"{whose}: {told} {count}")


def _measured(group: Group | None) -> tuple[str, str]:
    """Return the measured verdict and its values, empty if the setting was not run."""
    if group is None:
        return "", ""
    verdict = group.tendency() if len(group.records) >= ENOUGH_SEEDS else "too few seeds"
    largest = group.scales[-1]
    values = ", ".join(f"{100 * value:.0f}" for value in group.exact(largest))
    return (
        verdict,
        f"{verdict} ({values} at {largest}; {group.fitted} fit, median {100 * median(group.exact(largest)):.0f})",
    )


if __name__ == "__main__":
    show_languages()
    show_settings()
