"""A run folder that somebody else has made: nothing of it runs, and what is wrong with it is told in one line."""

import errno
import json
import lzma
import os
import shutil
import sys

import pytest
import safetensors

from contracts.command import ldhd
from contracts.tiny import TINY
from ldhd import files
from ldhd.experiments import Failure, RunFolder, load_run, loading, make_config, run
from ldhd.experiments.packing import pack
from ldhd.experiments.studies import Study, read_runs
from ldhd.files import BadFileError, read_json, write_json, write_lines
from ldhd.report.runs import find_runs
from ldhd.sweep import in_turn, run_sweep

OWN = """
import pathlib
from ldhd.positions import RPE
pathlib.Path(__file__).with_name("imported").touch()
class Own(RPE):
    pass
"""


def tiny(position="rpe-square", seed=0):
    scales = {"train_scales": (1, 2), "test_scales": (1, 2, 4)}
    return make_config("copy", position, steps=4, seed=seed, settings=TINY, **scales)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("trained")
    for seed in range(2):
        run(tiny(seed=seed), out)
    return out


@pytest.fixture
def study(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "study")


@pytest.fixture
def folder(study):
    return study / tiny().hash


def edit(path, **changes):
    write_json(path, read_json(path) | changes)


def test_own_code_runs_only_when_trusted(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_position.py").write_text(OWN)
    config = tiny("own_position:Own")
    run(config, tmp_path / "runs")
    folder, mark = tmp_path / "runs" / config.hash, tmp_path / "imported"
    commands = (
        ["evaluate", folder, "--test-scales", "1"],
        ["show", folder, "b12="],
        ["export", folder, tmp_path / "exported"],
        ["extend", folder, "--steps", "5"],
    )
    for command in commands:
        monkeypatch.delitem(sys.modules, "own_position", raising=False)
        mark.unlink(missing_ok=True)
        code, _, err = ldhd(capsys, *command)
        assert (code, err.count("\n")) == (2, 1)
        assert "own_position:Own would be imported" in err
        assert "--trust" in err
        assert not mark.exists()
    ldhd(capsys, "report", tmp_path / "runs", "-o", tmp_path / "r.html")
    assert not mark.exists()
    code, _, _ = ldhd(capsys, *commands[0], "--trust")
    assert (code, mark.exists()) == (0, True)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("record.json", {"seconds": -1.0}, "seconds: Input should be greater than or equal to 0"),
        ("record.json", {"seed": True}, "seed: Input should be a valid integer"),
        ("record.json", {"steps": 5}, "its steps is 5, not 4"),
        ("record.json", {"train_scales": [1]}, r"its train_scales is \[1\], not \[1, 2\]"),
        ("record.json", {"fitted": True}, "its fitted is True"),
        ("record.json", {"commit": "--output=x"}, "commit: String should match"),
        ("config.json", {"train_scales": [1, 10**9]}, "less than or equal to 100000"),
        ("config.json", {"task": "copy[/x]"}, "task: String should match"),
        ("config.json", {"extended_from": "../../x"}, "extended_from: String should match"),
    ],
)
def test_what_is_out_of_range_or_disagrees_is_named_and_the_rest_is_read(study, folder, name, changes, message):
    edit(folder / name, **changes)
    found = find_runs([study])
    assert [run.config.seed for run in found.finished] == [1]
    (problem,) = found.problems
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(problem)
    with pytest.warns(UserWarning, match=message):
        assert [run.config.seed for run in read_runs(study)] == [1]


def test_exact_match_of_4200_percent_is_tested_again(study, folder):
    results = read_json(folder / "record.json")["results"]
    before = RunFolder(folder).record().results
    edit(folder / "record.json", results=[row | {"exact": 42.0, "n": -5} for row in results])
    with pytest.warns(UserWarning, match=r"results\.0\.n: Input should be greater than or equal to 1"):
        records = run_sweep([tiny(seed=seed) for seed in range(2)], study, in_turn).records
    assert records[0].results == before


@pytest.mark.parametrize(
    "change",
    [
        {"step": "x"},
        {"step": 1},
        {"accuracy": {"2": float("nan")}},
        {"accuracy": {"2": 2.0}},
        {"accuracy": [1]},
        {"anchor_entropy": [["x"]]},
        {"needed": {"x": 5}},
        {"colour": "red"},
    ],
)
def test_metrics_that_are_none(study, folder, change):
    rows = [{"step": 2, "loss": 1.0}, {"step": 4, "loss": 1.0} | change]
    write_lines(folder / "metrics.jsonl", rows)
    found = find_runs([study])
    assert found.metrics(folder.name) == []
    assert "metrics.jsonl" in found.problems[0]


def test_only_regular_files_are_read_and_only_to_a_size(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    for name, kind in (("pipe", "a pipe"), ("zeros", "a device"), ("folder", "a folder"), ("loop", "symbolic links")):
        with pytest.raises(BadFileError, match=kind):
            files.load_json(tmp_path / name)
    (tmp_path / "large").write_text("[" + "{}," * 1000 + "{}]")
    (tmp_path / "link").symlink_to("large")
    assert len(files.read_bytes(tmp_path / "link")) == 3004
    monkeypatch.setattr(files, "LARGEST_DOCUMENT", 100_000)
    with pytest.raises(BadFileError, match="is too large"):
        files.load_json(tmp_path / "large")
    with pytest.raises(BadFileError, match="larger than"):
        files.read_bytes(tmp_path / "large", largest=100)


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "[" * 10**5, "1" + "0" * 5000])
def test_what_is_no_json(value):
    with pytest.raises(BadFileError, match="is not whole"):
        files.parse_object(f'{{"a": {value}}}'.encode(), "x")


def test_a_file_that_grows_when_it_is_decompressed_is_not_read_on(study, monkeypatch):
    pack(study)
    monkeypatch.setattr(files, "LARGEST_STUDY", 10**6)
    path = Study(study).metrics_path
    path.write_bytes(lzma.compress(path.read_bytes()[:0] + b"\n" * 10**7))
    found = find_runs([study])
    assert (len(found.finished), found.metrics(found.finished[0].record.hash)) == (2, [])
    assert "is too large" in found.problems[0]


def test_shapes_are_compared_before_anything_is_allocated(folder, monkeypatch):
    config = read_json(folder / "config.json")
    edit(folder / "config.json", model_options=config["model_options"] | {"dimension": 32768})

    def allocate(*arguments):
        raise AssertionError("something was allocated")

    monkeypatch.setattr(loading, "new_model", allocate)
    monkeypatch.setattr(safetensors, "safe_open", allocate)
    with pytest.raises(ValueError, match=r"belongs to run|would need"):
        load_run(folder)


def test_weights_of_another_shape(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content.replace(b'"shape":[16]', b'"shape":[99]', 1))
    shutil.rmtree(folder / "checkpoints")
    with pytest.raises(BadFileError, match="holds the weights of another model"):
        load_run(folder)


def test_a_model_that_takes_more_than_the_memory_is_not_trained():
    with pytest.raises(ValueError, match=r"a model of .* parameters would need .* of memory"):
        loading.check(make_config("copy", "rpe", settings={"model.dimension": 32768, "model.layers": 2}, built=False))


@pytest.mark.parametrize("name", ["", "checkpoints", "lease"])
def test_nothing_is_written_through_a_link(study, folder, tmp_path, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".record.json.a1b2_c3d").write_text("kept")
    (folder / "record.json").unlink()
    place = folder / name if name else folder
    shutil.rmtree(place, ignore_errors=True)
    place.symlink_to(outside / ("made" if name == "lease" else ""))
    result = run_sweep([tiny(seed=seed) for seed in range(2)], study, in_turn, retries=0)
    assert [record.seed for record in result.records] == [1]
    assert "link" in result.failures[0].message or "something else" in result.failures[0].message
    assert [path.name for path in outside.iterdir()] == [".record.json.a1b2_c3d"]


def test_a_failure_is_not_noted_beside_a_record(folder):
    RunFolder(folder).write_failure(Failure(folder.name, "x", "y", 1))
    assert not (folder / "failure.json").exists()


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device; free some space.*record\.json"):
        write_json(tmp_path / "record.json", {"a": 1})


def test_out_of_memory_ends_in_one_line(folder, capsys, monkeypatch):
    def allocate(*arguments, **options):
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")

    monkeypatch.setattr(loading, "evaluate", allocate)
    code, _, err = ldhd(capsys, "evaluate", folder, "--test-scales", "1")
    assert (code, err.count("\n")) == (2, 1)
    assert "out of memory; use smaller scales" in err


def test_names_and_labels_are_shown_as_they_are(folder, capsys):
    """Names with markup are refused, and options with markup, in the terminal and in figures, are text."""
    code, out, _ = ldhd(capsys, "evaluate", folder, "--test-scales", "1", "--json")
    assert (code, json.loads(out)["hash"]) == (0, folder.name)
    with pytest.raises(ValueError, match="String should match"):
        tiny().model_validate(tiny().model_dump() | {"position": "rpe[/x]"})
