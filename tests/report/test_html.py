"""The report as a file: what it says, that it is safe and self-contained, and what it refuses."""

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from plotly.offline import get_plotlyjs

from contracts.command import ldhd
from ldhd.experiments.groups import Group, group_runs
from ldhd.files import write_json
from ldhd.positions import POSITIONS
from ldhd.report import sections, task_page
from ldhd.report.configurations import badge, configurations
from ldhd.report.documents import read_document
from ldhd.report.html import write_report
from ldhd.report.overview import headline
from ldhd.report.runs import find_runs
from ldhd.report.task_page import notable_scales
from report.samples import (
    BENCH,
    LEDGER,
    PREDICTIONS,
    TEST,
    config_of,
    grouped,
    metrics_of,
    plain_record,
    record_of,
    trace_of,
    write_run,
    write_sample,
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A report of everything, and its page without plotly's script."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder / "runs")
    given = {"ledger": LEDGER, "predictions": PREDICTIONS, "benchmarks": [BENCH]}
    report = write_report([folder / "runs"], folder / "new" / "report.html", **given)
    page = report.path.read_text()
    assert page.count(get_plotlyjs()) == 1
    return report, page.replace(get_plotlyjs(), "")


def embedded(page, name):
    return json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)[1])


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_headline_and_counts(sample):
    _, page = sample
    said = text_of(re.search(r'<p class="finding">.*?</ul>', page, re.S)[0])
    assert "RPE-Square generalises on copy and seems to generalise on addition; RPE fails on copy." in said
    assert "9 runs 2 tasks 2 embeddings 3 seeds 1 not fitted" in said


def group_of(task, position, beyond, label="", scale=8, **given):
    """A group of one seed for each value in `beyond`, its exact match beyond the training scales."""
    scales = tuple(s for s in (*TEST, 20, 100) if s <= scale)
    configs = [config_of(task, position, seed, test_scales=scales, **given) for seed in range(len(beyond))]
    records = tuple(record_of(config, value) for config, value in zip(configs, beyond, strict=True))
    return Group(task, position, "small", records, configs[0], (), label or position)


def test_the_headline_counts_one_configuration_of_each_task_and_embedding():
    tasks = ("copy", "parity", "addition", "division")
    groups = [group_of(task, "rpe", [1.0] * 3) for task in tasks[:3]]
    groups += [group_of(task, "rope", [0.0] * 3) for task in tasks]
    best = [group_of("division", "rpe", [1.0] * 3, "short"), group_of("division", "rpe", [0.0] * 3, "long", 100)]
    single = group_of("copy", "rpe", [0.0], "one seed", 100)
    found = configurations([*groups, *best, single])
    assert headline(found) == "<b>RPE</b> generalises on 3 of 4 tasks; the other embedding on none."
    assert headline(configurations(groups[3:])) == "None of 1 embedding generalises on any of 4 tasks."
    few = configurations([groups[0], group_of("copy", "rope", [0.0] * 3)])
    assert headline(few) == "<b>RPE</b> generalises on copy; <b>RoPE</b> fails on copy."


def test_the_headline_of_the_stored_results_is_an_independent_count():
    """Counted again from the lines of the packed studies, without the groups, the rule and the verdicts of ldhd."""
    runs = {}
    for path in (Path(__file__).parents[2] / "results").glob("*/runs.jsonl"):
        for line in path.read_text().splitlines():
            held = json.loads(line)
            runs[held["record"]["hash"]] = held["config"], held["record"]
    settings = {}
    for config, record in runs.values():
        same = {k: v for k, v in config.items() if k not in ("seed", "sha256", "extended_from")}
        key = json.dumps(same, sort_keys=True), record["model"], bool(config.get("extended_from"))
        settings.setdefault((config["task"], config["position"]), {}).setdefault(key, []).append((config, record))
    counted, shared = {}, {}
    for (task, position), groups in settings.items():
        for own in groups.values():
            shared.setdefault((task, own[0][1]["model"], str(own[0][0]["train"])), set()).add(position)
    for (task, position), groups in settings.items():
        enough = [own for own in groups.values() if len(own) >= 3] or list(groups.values())

        def far(own):
            config, fitted = own[0][0], sum(record["fitted"] for _, record in own)
            beyond = [scale for scale in config["test_scales"] if scale > max(config["train_scales"])]
            alike = len(shared[config["task"], own[0][1]["model"], str(config["train"])])
            return len(beyond), max(beyond, default=0), len(own), fitted, alike, config["train"]["steps"]

        best = max(map(far, enough))
        (own, *_) = [own for own in enough if far(own) == best]
        at_last = [(record["results"][-1]["exact"], record["fitted"]) for _, record in own]
        right = sorted(value for value, fitted in at_last if fitted)
        holds = len(right) >= 3 and 2 * len(right) >= len(at_last) and median(right) >= 0.9
        counted.setdefault(position, {})[task] = holds and sum(v for v, _ in at_last) / len(at_last) >= 0.9
    report = find_runs([Path(__file__).parents[2] / "results"])
    groups = group_runs(
        [run.record for run in report.finished], {run.record.hash: run.config for run in report.finished}
    )
    said = str(headline(configurations(groups)))
    able = {name: tasks for name, tasks in counted.items() if any(tasks.values())}
    for name, tasks in able.items():
        title = " + ".join(POSITIONS[term].title for term in name.split("+"))
        assert re.search(rf"<b>{re.escape(title)}</b> (generalises )?on {sum(tasks.values())} of {len(tasks)}\b", said)
    assert said.count("<b>") == len(able)
    assert f"none of {len(counted) - len(able)} other embeddings on any" in said


def test_which_configuration_counts():
    """Seeds, the test scales, more seeds, fitted seeds, steps, the name: never a result beyond training."""

    def first(*groups):
        chosen, *others = configurations(groups)
        assert (chosen.chosen, [one.rank for one in others]) == (True, [*range(2, len(groups) + 1)])
        return chosen.label

    weak, strong = group_of("copy", "rpe", [0.0] * 3, "a"), group_of("copy", "rpe", [1.0] * 3, "b")
    assert first(strong, weak) == first(weak, strong) == "a"
    assert first(strong, group_of("copy", "rpe", [0.0] * 4, "more")) == "more"
    assert first(group_of("copy", "rpe", [1.0] * 4, "more"), group_of("copy", "rpe", [0.0] * 3, "far", 20)) == "far"
    assert first(strong, group_of("copy", "rpe", [0.0] * 2, "two", 20)) == "b"
    assert first(strong, group_of("copy", "rpe", [0.0] * 3, "steps", steps=500)) == "steps"


def test_a_mean_below_the_bound_is_not_called_generalising():
    group = group_of("copy", "rpe", [1.0] * 3 + [0.0] * 2)
    assert group.verdict() == "generalises" or group.mean(8) < 0.9
    unfitted = [record.model_copy(update={"fitted": False}) for record in group.records[3:]]
    group = replace(group, records=(*group.records[:3], *unfitted))
    assert group.verdict() == "generalises"
    assert badge(group) == "in 3 of 5 seeds"
    assert headline(configurations([group])) == "<b>RPE</b> is mixed on copy."
    assert badge(group_of("copy", "rpe", [1.0] * 3)) == "generalises"


def test_the_table_of_many_scales_shows_the_round_ones():
    scales = (1, 2, 3, 4, 5, *range(6, 11), 20, 50, 100, 200, 500, 1000, 10_000)
    group = group_of("copy", "rpe", [1.0])
    record = record_of(config_of(train_scales=(1, 2, 3, 4, 5), test_scales=scales))
    shown = notable_scales([replace(group, records=(record,))])
    assert (shown[:2], shown[-1], 100 in shown) == ([5, 6], 10_000, True)
    assert notable_scales([group]) == [4, 5, 6, 8]


def test_every_section_is_there_and_linked(sample):
    _, page = sample
    for name in ("overview", "task-copy", "task-addition", "predictions", "ledger", "bench", "runs"):
        assert f'id="{name}"' in page
        assert f'href="#{name}"' in page
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets <= set(re.findall(r'id="([^"]+)"', page))


def test_points_lead_to_runs_that_are_listed(sample):
    report, page = sample
    points = {
        target
        for figure in embedded(page, "figures")
        for trace in figure.get("data", [])
        if trace.get("meta") in ("seeds", "mean")
        for target in trace["customdata"]
    }
    lines = {
        trace["meta"]
        for figure in embedded(page, "figures")
        for trace in figure.get("data", [])
        if trace.get("name", "").startswith("seed ")
    }
    assert lines == {f"run-{run.record.hash}" for run in report.runs.finished}
    assert points <= set(re.findall(r'id="([^"]+)"', page))
    assert {f"run-{run.record.hash}" for run in report.runs.finished} <= points


def test_curves_are_the_statistics(sample):
    report, page = sample
    rpe = next(group for group in report.groups if group.position == "rpe")
    (figure,) = [
        figure
        for figure in embedded(page, "figures")
        if {"seeds", "mean"} <= {t.get("meta") for t in figure.get("data", [])}
        and any(t["name"].startswith("RPE,") for t in figure["data"])
    ]
    own = {t["meta"]: t for t in figure["data"] if t.get("legendgroup", "") == "rpe"}
    assert figure["shown"] == ["rpe-square", "rpe"]
    assert own["mean"]["x"] == rpe.scales
    assert own["mean"]["y"] == pytest.approx([rpe.interval(scale).value for scale in rpe.scales], abs=1e-4)
    assert sorted(own["seeds"]["y"][k] for k, x in enumerate(own["seeds"]["x"]) if x == 8) == [0.0, 0.04, 0.08]
    interval = rpe.interval(8)
    at_8 = [y for x, y in zip(own["band"]["x"], own["band"]["y"], strict=True) if x == 8]
    assert at_8 == [pytest.approx(interval.high, abs=1e-4), pytest.approx(interval.low, abs=1e-4)]
    (shade,) = [t for t in figure["data"] if t["meta"] == "shade"]
    assert (min(shade["x"]), max(shade["x"])) == (0.5, 4.5)


def test_unfitted_seeds_are_kept_marked_and_explained(sample):
    _, page = sample
    seeds = [t for figure in embedded(page, "figures") for t in figure.get("data", []) if t.get("meta") == "seeds"]
    crossed = [text for t in seeds for text in t["text"] if t["marker"]["symbol"] == "x"]
    assert set(crossed) == {"seed 2, not fitted"}
    assert "did not fit; at its end exact match at scale 4: 37.5 %" in page


def test_predictions_stand_beside_what_was_measured(sample):
    said = text_of(sample[1])
    # none stood before the runs, which name no commit and have other scales than the paper's
    assert "in-sample (as the paper reports) 0 hits, 0 misses, 0 declined, 0 open, 0 not registered" in said
    assert (
        "out-of-sample (on what the paper does not report) 0 hits, 0 misses, 0 declined, 0 open, 3 not registered"
        in said
    )
    assert "Of 3 settings measured here 3 are among the 4 predictions given." in said
    assert "copy rpe max_distance=1024 2 1-4, to 8 generalises fails 3 seeds miss not registered b1= &amp; b2=" in said
    assert "two tokens, one relation" in said


def test_ledger_and_benchmarks(sample):
    said = text_of(sample[1])
    assert "example-3 fails as printed 4x1 Instead: 4x1 + 3" in said
    assert "step small GPT-2 1.90" in said


def test_traces_are_kept_for_each_outcome(sample):
    traces = embedded(sample[1], "traces")
    assert [trace["label"] for trace in traces] == [
        "rpe-square, seed 0, right",
        "rpe, seed 0, falls short",
        "rpe-square, seed 0, right",
        "rpe-square, seed 2, does not fit",
    ]
    assert traces[0]["views"]["attention"]["0.0"][0][1] == round(1000 * trace_of()["attention"][0][0][0][1])


def test_nothing_is_asked_of_the_network(sample):
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)|@import|url\(""", sample[1])


def test_the_config_of_a_cell_is_written_once(sample):
    """A thousand runs stay readable: what they share is not repeated."""
    report, page = sample
    assert page.count("&#34;gradient_clip&#34;") == len(report.groups) == 3


def test_what_users_wrote_is_text(tmp_path):
    """Options, commands, traces and titles cannot become elements or end their script; such names are refused."""
    evil = "</script><script>hacked=1</script><img src=x onerror=hacked=1>"
    config = config_of().model_copy(update={"position_options": {"rpe-square": {"hard": evil}}})
    record = record_of(config, command=f"ldhd run {evil}").model_copy(update={"version": evil, "model": evil})
    metrics = [row | {"needed": {evil: 0.5}} for row in metrics_of(False)]
    write_run(tmp_path / "runs", config, record, metrics, trace_of() | {"output": evil})
    other = config_of(seed=1)
    write_run(tmp_path / "runs", other, record_of(other))
    named = config_of(seed=2).model_copy(update={"task": f"m:{evil}"})
    stored = record_of(config_of(seed=2)).model_copy(update={"task": f"m:{evil}", "hash": named.hash})
    write_run(tmp_path / "runs", named, stored)
    ledger = {"claims": [{"id": evil, "claim": evil, "verdict": evil, "correction": evil, "evidence": {"x": evil}}]}
    predictions = {"predictions": [{"task": evil, "position": evil, "verdict": evil, "witness": evil, "layers": evil}]}
    case = {"case": evil, "shape": evil, "ratio": 1.0, "spread": [1.0, 1.0], "against": evil, "measure": evil}
    given = {"ledger": ledger, "predictions": predictions, "benchmarks": [{"cases": [case], "machine": {evil: evil}}]}
    report = write_report([tmp_path / "runs"], tmp_path / "r.html", title=evil, **given)
    assert (len(report.runs.finished), len(report.runs.problems)) == (2, 1)
    page = report.path.read_text()
    assert "<script>hacked" not in page
    assert "<img" not in page.replace(get_plotlyjs(), "")
    assert page.count("&lt;script&gt;hacked=1") > 10


def test_one_seed_and_many_scales(tmp_path):
    """A single seed has no band; beyond scale 30 the axis is logarithmic; training scales may have gaps."""
    config = config_of(train_scales=(1, 2, 4), test_scales=(1, 2, 4, 10, 50, 100))
    write_run(tmp_path, config, record_of(config))
    page = write_report([tmp_path], tmp_path / "r.html").path.read_text()
    figure = embedded(page, "figures")[0]
    assert figure["layout"]["xaxis"]["type"] == "log"
    assert [t["meta"] for t in figure["data"]] == ["shade", "shade", "seeds", "mean"]
    assert "one seed" in page


def test_a_report_without_runs_needs_something_to_say(tmp_path):
    with pytest.raises(ValueError, match="no runs in"):
        write_report([tmp_path], tmp_path / "r.html")
    assert (
        "There are no finished runs here"
        in write_report([tmp_path], tmp_path / "r.html", ledger=LEDGER).path.read_text()
    )


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for out, message in ((tmp_path, "is a folder"), (tmp_path / "file" / "r.html", "file is no folder")):
        with pytest.raises(ValueError, match=message):
            write_report([tmp_path], out, ledger=LEDGER)


def test_problems_are_warned_of_and_written_down(tmp_path):
    config = config_of()
    write_run(tmp_path / "runs", config, record_of(config))
    folder = write_run(tmp_path / "runs", config_of(seed=1), record_of(config_of(seed=1)))
    (folder / "record.json").write_text("{")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        page = write_report([tmp_path / "runs"], tmp_path / "r.html").path.read_text()
    assert len(told) == 1
    assert "record.json is not whole" in str(told[0].message)
    assert "record.json is not whole" in page
    assert "1 unreadable" in text_of(page)


def test_runs_that_did_not_end_are_listed(tmp_path):
    """Only unfinished and failed runs: there is a report, and it names them."""
    write_run(tmp_path / "runs", config_of(seed=0), metrics=metrics_of())
    folder = write_run(tmp_path / "runs", config_of(seed=1))
    write_json(
        folder / "failure.json",
        {"hash": folder.name, "label": "copy seed 1", "message": "loss is <nan>", "attempts": 3},
    )
    page = write_report([tmp_path / "runs"], tmp_path / "r.html").path.read_text()
    said = text_of(page)
    assert "No finished runs." in said
    assert "0 runs 1 failed 1 unfinished" in said
    assert "copy seed 1: loss is &lt;nan&gt;" in page


def run_command(arguments, capsys):
    return ldhd(capsys, *arguments)


def test_command_line(tmp_path, capsys):
    write_sample(tmp_path / "runs")
    for name, content in (("ledger", LEDGER), ("predictions", PREDICTIONS), ("bench", BENCH)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    files = [f"--{name}={tmp_path / name}.json" for name in ("ledger", "predictions", "bench")]
    out = tmp_path / "deep" / "report.html"
    code, text, _ = run_command(["report", str(tmp_path / "runs"), "-o", str(out), *files], capsys)
    assert (code, text) == (0, f"report: {out} (9 runs in 3 cells)\n")
    arguments = ["report", str(tmp_path / "runs" / "copy"), str(tmp_path / "runs" / "addition"), "-o", str(out)]
    code, text, _ = run_command([*arguments, "--json", "--figures", str(tmp_path / "figures")], capsys)
    shown = json.loads(text)
    assert code == 0
    assert [(cell["task"], cell["position"], cell["verdict"]) for cell in shown["cells"]] == [
        ("copy", "rpe-square", "generalises"),
        ("copy", "rpe", "fails"),
        ("addition", "rpe-square", "too few seeds"),
    ]
    assert shown["cells"][1]["exact"]["8"]["value"] == pytest.approx(0.04)
    assert shown["cells"][2]["success"]["successes"] == 2
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {path.rsplit("/", 1)[1] for path in shown["figures"]}
    stems = {name.rsplit(".", 1)[0] for name in drawn}
    assert drawn == {f"{stem}.{suffix}" for stem in stems for suffix in ("png", "pdf")}
    assert {"matrix", "final", "copy-accuracy", "copy-digits", "copy-errors", "addition-carries"} <= stems
    assert "addition-rpe-square-seed-2-does-not-fit-string" in stems
    assert (tmp_path / "figures" / "matrix.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / "matrix.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "no list 'claims'"),
        ('{"claims": [5]}', "entry 0 of 'claims' lacks 'id'"),
        ('{"claims": [{"id": "x", "claim": "y", "verdict": [1]}]}', "entry 0 of 'claims': verdict: Input should be"),
        ('{"claims": [{"id": "x"}]}', "entry 0 of 'claims' lacks 'claim'"),
    ],
)
def test_a_wrong_ledger_is_refused_in_one_line(tmp_path, capsys, content, message):
    (tmp_path / "ledger.json").write_text(content)
    arguments = ["report", str(tmp_path), "-o", str(tmp_path / "r.html"), "--ledger", str(tmp_path / "ledger.json")]
    code, _, error = run_command(arguments, capsys)
    assert (code, error.count("\n")) == (2, 1)
    assert message in error
    assert "ldhd verify --json" in error
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("extra", [["--ledger", "absent.json"], []])
def test_nothing_to_report_is_refused_in_one_line(tmp_path, capsys, extra):
    code, _, error = run_command(["report", str(tmp_path), "-o", str(tmp_path / "r.html"), *extra], capsys)
    assert (code, error.count("\n")) == (2, 1)
    assert ("absent.json" if extra else f"no runs in {tmp_path}") in error
    assert list(tmp_path.iterdir()) == []


def test_a_page_of_many_cells_shows_some_and_lists_the_others(tmp_path, monkeypatch):
    """Which are shown does not depend on their results, and the page says so."""
    monkeypatch.setattr(task_page, "MOST_DETAILED", 4)
    monkeypatch.setattr(sections, "MOST_LINES", 5)
    for number in range(12):
        config = config_of(settings={"train.learning_rate": 1e-4 * (number + 1)})
        write_run(tmp_path / "runs", config, record_of(config, number / 11))
    report = write_report([tmp_path / "runs"], tmp_path / "r.html")
    page = report.path.read_text()
    assert len(report.groups) == len(report.document()["cells"]) == 12
    assert page.count('<article class="config') == 4
    assert page.count('<article class="config active" id="cell-0"') == 1
    assert "4 of them are shown in detail" in page
    assert "The first 5 are listed, the other 7 only counted" in text_of(page)
    assert len(embedded(page, "lines")) == 5


def test_comparisons_grow_in_proportion_to_the_groups(monkeypatch):
    names = list(POSITIONS)[:8]
    records = [plain_record(position, exact=(1.0, k / 40)) for k, position in enumerate(names)]
    groups = grouped(records)
    assert len(task_page.pairs(groups)) == len(groups) * (len(groups) - 1) // 2
    monkeypatch.setattr(task_page, "MOST_PAIRED", 5)
    assert [better.position for better, *_ in task_page.pairs(groups)] == [names[-1]] * (len(groups) - 1)


def test_committed_documents_are_read():
    results = Path(__file__).parents[2] / "results"
    assert read_document(results / "theory" / "ledger.json", "claims")["claims"]
    assert read_document(results / "predictions.json", "predictions")["predictions"]
    for path in (results / "bench").glob("*.json"):
        assert read_document(path, "cases")["cases"]


def test_labels_of_groups_that_print_alike_differ():
    configs = [config_of().model_copy(update={"position_options": {"rpe-square": {"x": x}}}) for x in (1, "1", 2)]
    groups = group_runs([record_of(config) for config in configs], {config.hash: config for config in configs})
    assert len({group.label for group in groups}) == 3
