"""Packed studies: nothing is lost, everything reads them as it reads run folders, and damage is noticed."""

import contextlib
import json
import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from contracts.command import ldhd
from contracts.tiny import TINY
from ldhd.certify import Certificate
from ldhd.experiments import RunFolder, make_config, run
from ldhd.experiments.packing import pack, unpack
from ldhd.experiments.parts import outline
from ldhd.experiments.studies import Study, read_runs
from ldhd.files import BadFileError
from ldhd.lease import holding
from ldhd.report.runs import find_runs
from ldhd.sweep import run_sweep

KEPT = ("config.json", "metrics.jsonl", "trace.json", "record.json")
RESULTS = Path(__file__).parents[2] / "results"


def tiny(seed=0, steps=4):
    scales = {"train_scales": (1, 2), "test_scales": (1, 2, 4)}
    return make_config("copy", "rpe-square", steps=steps, seed=seed, settings=TINY, **scales)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("trained")
    for seed in range(3):
        run(tiny(seed), out)
    return out


@pytest.fixture
def study(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "study")


def files(out):
    return {path.relative_to(out): path.read_bytes() for path in sorted(out.glob("*/*")) if path.name in KEPT}


def never(jobs, on_progress, stop):
    raise AssertionError("a job was started")


def test_there_and_back_gives_equal_files(study, trained, tmp_path):
    done, _ = pack(study)
    assert done["runs"] == sorted(tiny(seed).hash for seed in range(3))
    assert done["dropped"] == {"weights": 3, "checkpoints": 3}
    assert sorted(path.name for path in study.iterdir()) == ["metrics.jsonl.xz", "runs.jsonl", "traces.jsonl.xz"]
    before = {path.name: path.read_bytes() for path in study.iterdir()}
    unpack(study, tmp_path / "copy")
    assert files(tmp_path / "copy") == files(trained)
    assert {path.name: path.read_bytes() for path in study.iterdir()} == before
    unpack(study)
    assert files(study) == files(trained)
    assert not list(study.glob("*.jsonl*"))
    pack(study)
    assert {path.name: path.read_bytes() for path in study.iterdir()} == before


def test_a_certificate_survives(study, tmp_path):
    """It is read from the packed study as from the folder; one about other weights is not packed."""
    folder = RunFolder(study / tiny().hash)
    folder.write_certificate(Certificate("copy", "refused", reason="all keys are visible"))
    certificate, stored = folder.certificate(), folder.certificate_path.read_bytes()
    weights = folder.weights_path.read_bytes()
    folder.weights_path.write_bytes(weights[:-1] + b"x")
    with pytest.raises(BadFileError, match="other weights"):
        pack(study)
    folder.weights_path.write_bytes(weights)
    pack(study)
    assert [line.hash for line in Study(study).packed if has_certificate(line)] == [tiny().hash]
    assert Study(study).packed_by_hash[tiny().hash].certificate() == certificate
    found = find_runs([study])
    assert found.certificate(tiny().hash) == certificate
    assert found.certificate(tiny(1).hash) is None
    pack_again = run(tiny(seed=3), study)
    pack(study)
    assert Study(study).packed_by_hash[pack_again.hash].record() == pack_again
    unpack(study)
    assert folder.certificate_path.read_bytes() == stored
    assert not list(study.glob("*.xz"))


def has_certificate(stored):
    try:
        return stored.certificate() is not None
    except FileNotFoundError:
        return False


def test_a_line_for_each_run_sorted_by_hash(study, trained):
    pack(study)
    lines = [json.loads(line) for line in (study / "runs.jsonl").read_text().splitlines()]
    hashes = [line["record"]["hash"] for line in lines]
    assert hashes == sorted(hashes)
    for line in lines:
        folder = trained / line["record"]["hash"]
        for part in ("config", "record"):
            assert line[part] == json.loads((folder / f"{part}.json").read_text())


def test_packed_runs_are_read_as_folders_are(study, trained):
    pack(study)
    for folders, packed in zip(read_runs(trained), read_runs(study), strict=True):
        assert (packed.config, packed.record) == (folders.config, folders.record)
        assert packed.stored.metrics() == folders.stored.metrics()
        assert packed.stored.trace() == folders.stored.trace()
    found = find_runs([study.parent])
    assert [run.config.seed for run in found.finished] == [0, 1, 2]
    assert found.problems == []
    assert len(found.metrics(tiny().hash)) > 0
    assert found.trace(tiny().hash)["scale"] == 4


def test_packed_runs_are_not_trained_again(study, trained):
    pack(study)
    records = run_sweep([tiny(seed) for seed in range(3)], study, never).records
    assert records == [RunFolder(trained / tiny(seed).hash).record() for seed in range(3)]
    assert run(tiny(1), study) == records[1]
    assert len(list(study.iterdir())) == 3
    assert Study(study).finished(tiny(seed=9)) is None


def test_more_runs_are_added(study):
    pack(study)
    run(tiny(seed=3), study)
    assert pack(study)[0]["runs"] == [tiny(seed=3).hash]
    assert sorted(run.config.seed for run in read_runs(study)) == [0, 1, 2, 3]
    assert all(run.stored.metrics() and run.stored.trace() for run in read_runs(study))


def test_a_run_that_is_both_packed_and_a_folder_counts_once(study, trained):
    pack(study)
    shutil.copytree(trained / tiny().hash, study / tiny().hash)
    assert len(list(read_runs(study))) == 3


def test_what_is_unfinished_damaged_or_in_use_is_left(study):
    unfinished, damaged, held = (study / tiny(seed).hash for seed in range(3))
    (unfinished / "record.json").unlink()
    (damaged / "metrics.jsonl").write_text("{")
    run(tiny(seed=4), study)
    with holding(held):
        done, _ = pack(study)
    assert done["runs"] == [tiny(seed=4).hash]
    assert sorted(done["left"]) == sorted(path.name for path in (unfinished, damaged, held))
    assert all(path.is_dir() for path in (unfinished, damaged, held))


def test_folders_stay_if_what_was_written_does_not_agree(study, monkeypatch):
    compress, before = lzma.compress, files(study)
    monkeypatch.setattr(lzma, "compress", lambda content: compress(content.replace(b'"loss":', b'"lose":')))
    with pytest.raises(BadFileError, match="metrics"):
        pack(study)
    assert files(study) == before


@pytest.mark.parametrize("name", ["runs.jsonl", "metrics.jsonl.xz"])
def test_damage_is_noticed(study, name):
    pack(study)
    content = (study / name).read_bytes()
    place = content.index(b'"seed":') + 7 if name == "runs.jsonl" else len(content) // 2
    (study / name).write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    said = []
    for found in read_runs(study, said.append):
        with contextlib.suppress(FileNotFoundError):
            found.stored.metrics()
    assert [name in str(problem) for problem in said] == [True]
    found = find_runs([study])
    [found.metrics(run.record.hash) for run in found.finished]
    assert len(found.problems) == 1
    assert name in found.problems[0]


def test_a_damaged_line_is_trained_again(study):
    pack(study)
    lines = (study / "runs.jsonl").read_bytes().splitlines(keepends=True)
    (study / "runs.jsonl").write_bytes(b"".join(lines[:-1]) + lines[-1][:50])
    finished = [Study(study).finished(tiny(seed)) is not None for seed in range(3)]
    assert sorted(finished) == [False, True, True]
    run(tiny(seed=5), study)
    with pytest.raises(BadFileError, match="nothing was packed"):
        pack(study)


def test_commands(study, capsys, tmp_path):
    code, out, err = ldhd(capsys, "pack", study)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"3 runs: {study / 'runs.jsonl'}",
        "dropped: weights of 3 runs",
        "dropped: checkpoints of 3 runs",
    ]
    code, out, _ = ldhd(capsys, "unpack", study, "--out", tmp_path / "copy", "--json")
    assert code == 0
    assert json.loads(out)["runs"] == sorted(tiny(seed).hash for seed in range(3))
    for arguments in (["pack", tmp_path / "absent"], ["pack", study], ["unpack", tmp_path]):
        code, _, err = ldhd(capsys, *arguments)
        assert (code, err.count("\n")) == (2, 1)


def test_committed_results_are_read():
    """Every stored run is finished for a sweep and has its learning curve."""
    studies, said = {}, []
    for stored in read_runs(RESULTS, said.append):
        folder = stored.stored.path.parent
        study = studies.setdefault(folder, Study(folder))
        assert study.finished(stored.config) == stored.record
        assert stored.stored.metrics()[-1]["step"] == stored.record.steps
    assert len(studies) > 5
    assert said == []


def test_committed_results_are_few_files():
    command = ["git", "-C", str(RESULTS), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if listed.returncode != 0:
        pytest.skip("this is no clone of the repository")
    sizes = [path.stat().st_size for name in listed.stdout.split("\0")[:-1] if (path := RESULTS / name).exists()]
    assert 0 < len(sizes) <= 80
    assert sum(sizes) <= 15_000_000


def test_committed_runs_are_found_by_the_hashes_of_their_configs():
    """Whatever was removed or renamed since, a stored config is the config it was, and its model can be built."""
    outlined = set()
    for stored in read_runs(RESULTS):
        config = stored.config
        assert config.hash == stored.record.hash
        parts = config.model_options, config.position, config.position_options
        if repr(parts) not in outlined:
            outlined.add(repr(parts))
            outline(*parts)
    assert len(outlined) > 50
