"""What is damaged is noticed, said in one line, and made good from what is left."""

import json
import shutil
from pathlib import Path

import pytest

import ldhd
from contracts.tiny import TINY
from ldhd.experiments import RunFolder, load_run, make_config, run
from ldhd.experiments.loading import extended
from ldhd.files import BadFileError

SETTINGS = TINY | {"train.checkpoint_every": 3, "train.evaluate_every": 2}


def tiny(seed=0, steps=8, **settings):
    scales = {"train_scales": (1, 2), "test_scales": (1, 2, 4)}
    return make_config("copy", "rpe-square", steps=steps, seed=seed, settings={**SETTINGS, **settings}, **scales)


def contents(folder: Path) -> dict[str, object]:
    """All that a run leaves, without what depends on the clock."""
    record = {**json.loads((folder / "record.json").read_text()), "seconds": None, "sha256": None}
    names = ("config.json", "metrics.jsonl", "model.safetensors")
    return {"record.json": record, **{name: (folder / name).read_bytes() for name in names}}


@pytest.fixture
def folder(tmp_path):
    run(tiny(), tmp_path)
    return tmp_path / tiny().hash


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def empty(path):
    path.write_bytes(b"")


def alter(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


DAMAGES = [cut, empty, alter]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["record.json", "config.json", "metrics.jsonl"])
def test_a_damaged_file_of_a_finished_run_is_written_again(folder, name, damage):
    before = contents(folder)
    damage(folder / name)
    assert RunFolder(folder).finished(tiny()) is None
    with pytest.warns(UserWarning, match=name) as warned:
        run(tiny(), folder.parent)
    assert [name in str(warning.message) for warning in warned] == [True]
    assert "\n" not in str(warned[0].message)
    assert contents(folder) == before


def test_a_lost_line_of_the_metrics_is_noticed(folder):
    lines = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
    for kept in (lines[1:], lines[:-1], [lines[0], *lines], [lines[1], lines[0], *lines[2:]]):
        (folder / "metrics.jsonl").write_text("".join(kept))
        assert RunFolder(folder).finished(tiny()) is None


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_weights_are_those_of_the_last_checkpoint(folder, damage):
    before = contents(folder)
    damage(folder / "model.safetensors")
    with pytest.warns(UserWarning, match="its weights are those of the last checkpoint"):
        load_run(folder)
    assert contents(folder) == before
    shutil.rmtree(folder / "checkpoints")
    damage(folder / "model.safetensors")
    with pytest.raises(BadFileError, match=r"model\.safetensors"):
        load_run(folder)


def test_files_of_another_run(folder):
    run(tiny(seed=1), folder.parent)
    other = folder.parent / tiny(seed=1).hash
    before = contents(folder)
    for name in ("record.json", "config.json"):
        (folder / name).write_bytes((other / name).read_bytes())
        with pytest.warns(UserWarning, match=f"{name} belongs to run {other.name}, not to {folder.name}"):
            run(tiny(), folder.parent)
        assert contents(folder) == before
    (folder / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    with pytest.warns(UserWarning, match=f"belongs to run {other.name}"):
        load_run(folder)
    assert contents(folder) == before


@pytest.mark.parametrize("damaged", [1, 2])
def test_damaged_checkpoints_are_passed_over(folder, damaged):
    """The one before the newest is used, and when all are damaged training starts again; the end is the same."""
    before = contents(folder)
    (folder / "record.json").unlink()
    (folder / "model.safetensors").unlink()
    for path in sorted((folder / "checkpoints").iterdir())[-damaged:]:
        alter(path)
    with pytest.warns(UserWarning, match="going on from step-00000006" if damaged == 1 else "no good checkpoint"):
        run(tiny(), folder.parent)
    assert contents(folder) == before


def test_a_record_is_made_again_from_weights_alone(folder):
    before = contents(folder)
    shutil.rmtree(folder / "checkpoints")
    cut(folder / "record.json")
    with pytest.warns(UserWarning, match="seconds of training are given as 0"):
        run(tiny(), folder.parent)
    assert contents(folder) == before
    assert RunFolder(folder).record().seconds == 0


def test_what_killed_writers_left_is_removed(folder):
    (folder / "record.json").unlink()
    left = [folder / ".record.json.a_1b2c3d", folder / "checkpoints" / ".step-00000008.x0y1z2w3"]
    others = [folder / ".nfs000000000012", folder / "~notes.txt"]
    for path in (*left, *others):
        path.write_text("half")
    run(tiny(), folder.parent)
    assert {path for path in folder.rglob("*") if path.name[0] in ".~"} == set(others)


def test_files_without_a_digest_are_read(folder):
    """As they were before there were digests."""
    expected = RunFolder(folder).record(), RunFolder(folder).config(), RunFolder(folder).metrics()
    for name in ("record.json", "config.json"):
        value = json.loads((folder / name).read_text())
        del value["sha256"]
        (folder / name).write_text(json.dumps(value))
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    (folder / "metrics.jsonl").write_text(
        "".join(json.dumps({key: value for key, value in row.items() if key != "sha256"}) + "\n" for row in rows)
    )
    assert (RunFolder(folder).record(), RunFolder(folder).config(), RunFolder(folder).metrics()) == expected
    assert RunFolder(folder).finished(tiny()) == expected[0]


class TestExtension:
    def test_it_goes_on_from_the_last_state_and_says_so(self, folder):
        config = extended(folder, 12)
        assert (config.train.steps, config.extended_from) == (12, folder.name)
        assert config.hash != tiny(steps=12).hash
        record = run(config, folder.parent)
        assert (record.steps, record.extended_from) == (12, folder.name)
        assert json.loads((folder.parent / config.hash / "record.json").read_text())["extended_from"] == folder.name
        rows = RunFolder(folder.parent / config.hash).metrics()
        assert rows[:4] == RunFolder(folder).metrics()
        assert [row["step"] for row in rows] == [2, 4, 6, 8, 10, 12]
        assert RunFolder(folder.parent / config.hash).config() == config
        assert run(config, folder.parent) == record

    def test_within_a_longer_schedule_it_is_the_longer_run(self, tmp_path):
        """The same weights, metrics and results as training for all steps at once."""
        options = {"train.schedule_steps": 30}
        run(tiny(**options), tmp_path)
        config = extended(tmp_path / tiny(**options).hash, 12)
        assert config.train.schedule_steps == 30
        record = run(config, tmp_path)
        whole = run(tiny(steps=12, **options), tmp_path)
        assert record.results == whole.results
        assert RunFolder(tmp_path / record.hash).metrics() == RunFolder(tmp_path / whole.hash).metrics()
        left, right = (load_run(tmp_path / name)[2].state_dict() for name in (record.hash, whole.hash))
        assert all(left[name].equal(right[name]) for name in right)

    def test_extensions_can_be_extended(self, folder):
        first = extended(folder, 10)
        run(first, folder.parent)
        second = extended(folder.parent / first.hash, 12)
        assert run(second, folder.parent).extended_from == first.hash

    def test_a_damaged_last_state_is_reached_again(self, folder, tmp_path):
        config = extended(folder, 12)
        run(config, folder.parent)
        before = contents(folder.parent / config.hash)
        shutil.rmtree(folder.parent / config.hash)
        alter(sorted((folder / "checkpoints").iterdir())[-1])
        with pytest.warns(UserWarning, match="going on from step-00000006"):
            run(config, folder.parent)
        assert contents(folder.parent / config.hash) == before

    def test_what_cannot_be_extended(self, folder, tmp_path):
        with pytest.raises(ValueError, match="was trained for 8 steps already"):
            extended(folder, 8)
        with pytest.raises(ValueError, match="schedule_steps 10 must not be below steps 12"):
            extended(folder, 12, schedule_steps=10)
        with pytest.raises(ValueError, match=r"holds no record\.json"):
            extended(tmp_path, 12)
        config = extended(folder, 12)
        shutil.rmtree(folder / "checkpoints")
        with pytest.raises(BadFileError, match="which has no good checkpoint"):
            run(config, folder.parent)
        with pytest.raises(ValueError, match="which is not in"):
            run(config, tmp_path / "elsewhere")
        folder.rename(tmp_path / "renamed")
        with pytest.raises(ValueError, match="must have the name of its run"):
            extended(tmp_path / "renamed", 12)


def test_nothing_that_can_execute_code_is_ever_loaded():
    forbidden = ("pickle", "torch.load(", " torch.save(", "joblib", "allow_pickle", "marshal", "shelve")
    for path in Path(ldhd.__file__).parent.rglob("*.py"):
        assert not [word for word in forbidden if word in path.read_text()], path
