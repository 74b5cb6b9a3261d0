"""Configs, runs and records."""

import json
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from contracts.tiny import TINY
from ldhd import seeds
from ldhd.experiments import RunFolder, evaluate_run, load_run, make_config, run
from ldhd.experiments.config import RunConfig, make_configs
from ldhd.experiments.groups import differences
from ldhd.experiments.loading import check, new_model
from ldhd.experiments.parts import build_model, load_task, options_model, position_options
from ldhd.files import BadFileError
from ldhd.model import MODELS
from ldhd.positions import POSITIONS
from ldhd.process import Interrupted
from ldhd.tasks import TASKS

SETTINGS = TINY | {"train.checkpoint_every": 3, "train.evaluate_every": 2}


def tiny(position="rpe-square", task="copy", seed=0, steps=8, **given):
    settings = {**SETTINGS, **given.pop("settings", {})}
    return make_config(
        task, position, steps=steps, seed=seed, train_scales=(1, 2), test_scales=(1, 2, 4), settings=settings, **given
    )


class TestConfig:
    def test_options_that_were_added_change_no_stored_hash(self):
        """At their defaults they are left out of the config; other values are part of it."""
        assert "offset_for" not in tiny("abacus").position_options["abacus"]
        assert tiny("abacus", settings={"position.offset_for": "sequence"}).hash == tiny("abacus").hash
        other = tiny("abacus", settings={"position.offset_for": "batch"})
        assert other.position_options["abacus"]["offset_for"] == "batch"
        assert other.hash != tiny("abacus").hash
        assert differences([tiny("abacus"), other]) == [
            ("position.abacus.offset_for=sequence",),
            ("position.abacus.offset_for=batch",),
        ]

    def test_hash_depends_on_everything(self):
        hashes = {
            tiny().hash,
            tiny(seed=1).hash,
            tiny("rpe").hash,
            tiny(steps=9).hash,
            tiny(task="parity").hash,
            tiny(settings={"position.max_distance": 5}).hash,
            tiny(settings={"model.null_key": False}).hash,
        }
        assert len(hashes) == 7
        assert tiny().hash == tiny().hash

    def test_defaults_are_written_out(self):
        """Were a default changed later, the hash of a run that relied on it would change too."""
        config, kind = tiny(), POSITIONS["rpe-square"]
        written = {*options_model(kind).model_fields, *kind.removed_options}
        assert config.position_options["rpe-square"].keys() == written
        assert config.model_options.layers == MODELS["small"].layers

    @pytest.mark.parametrize("device", ["cuda", "cuda:1", "cuda:17"])
    def test_a_device_may_have_an_index(self, device):
        config = tiny(device=device)
        assert config.device == device
        if torch.cuda.device_count() == 0:
            with pytest.raises(ValueError, match=f"device {device} was asked for, but torch does not find it here"):
                check(config)

    def test_json_round_trip(self):
        config = tiny("rpe-square+rpe-absolute")
        assert RunConfig.model_validate_json(config.model_dump_json()) == config

    def test_options_that_were_removed_stay_in_the_hash(self):
        """Stored configs hold them with the value None: they can be read, and new configs find finished runs."""
        options = position_options("rpe-square+rpe-absolute", {})
        for stored in options.values():
            assert stored["top"] is None
            assert stored["anchors"] is None
        size = MODELS["small"]
        assert build_model(size, "rpe-square+rpe-absolute", options)
        options["rpe-square"]["top"] = 3
        with pytest.raises(ValueError, match=r"position\.rpe-square\.top: Extra inputs are not permitted"):
            build_model(size, "rpe-square+rpe-absolute", options)
        with pytest.raises(ValueError, match=r"rpe-square has no option position\.top"):
            position_options("rpe-square", {"top": 3})

    @pytest.mark.parametrize("position", ["abacus", "rpe+absolute", "randomized-absolute"])
    def test_configs_whose_tables_follow_the_model_have_a_version_of_their_own(self, position):
        """They give other results than runs that were stored before, at the same settings."""
        wide = {"model.weight_std": 0.3}
        new, old = tiny(position, settings=wide), tiny(position, settings={**wide, "format_version": 2})
        assert (new.format_version, old.format_version) == (3, 2)
        assert new.hash != old.hash
        tables = [
            {name: p.std().item() for name, p in new_model(config).named_parameters() if name.endswith("table")}
            for config in (new, old)
        ]
        stds = [max(found.values()) for found in tables]
        assert stds == pytest.approx([0.3, 0.02], rel=0.1)
        assert tiny(position).format_version == 2
        assert tiny("rpe-square", settings=wide).format_version == 2

    def test_frozen(self):
        with pytest.raises(ValidationError):
            tiny().seed = 3

    def test_options_go_to_the_terms_that_have_them(self):
        options = position_options("rpe-square+rpe-absolute", {"hard": True, "rpe-absolute.max_distance": 7})
        assert options["rpe-square"]["hard"]
        assert options["rpe-absolute"]["hard"]
        assert (options["rpe-square"]["max_distance"], options["rpe-absolute"]["max_distance"]) == (2, 7)
        configs = make_configs("copy", ["none", "rpe"], settings={"position.max_distance": 3})
        assert configs[0].position_options == {"none": {}}
        assert configs[1].position_options["rpe"]["max_distance"] == 3

    def test_training_set_is_the_paper_s(self):
        assert make_config("copy", "rpe").train.samples == 10_000
        assert make_config("addition", "rpe").train.samples == 10_000
        assert make_config("addition", "rpe").train_scales == (1, 2, 3, 4)
        assert make_config("parity", "rpe").train_scales == (1, 2, 3, 4, 5)
        assert make_config("parity", "rpe", train_scales=(1, 2)).train.samples == 4000

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("position", POSITIONS)
    def test_every_task_and_embedding_has_a_default_config(self, task, position):
        make_config(task, position)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"task": "primes"}, "unknown task 'primes'; choose from copy, "),
            ({"position": "rpe-cube"}, "unknown position 'rpe-cube'; choose from none, "),
            ({"position": "rpe+rope"}, "'rope' does not only add"),
            ({"position": "rpe+rpe"}, "names a term twice"),
            ({"position": "rpe+"}, "unknown position ''"),
            (
                {"settings": {"position.colour": 1}},
                r"rpe-square has no option position\.colour; its options",
            ),
            ({"settings": {"position.": 1}}, "there is no setting 'position.'"),
            ({"settings": {"train.steps": 5}, "steps": 2}, "steps are given twice"),
            (
                {"settings": {"train.samples": "few"}},
                "train.samples: .* or 'endless', got 'few'",
            ),
            ({"settings": {"train.learning_rate": float("inf")}}, "train.learning_rate: Input should be a finite"),
            ({"settings": {"position.table_std": float("nan")}}, "position.rpe-square.table_std: .* finite"),
            ({"settings": {"position.max_distance": 10**11}}, "cannot be built|parameters, more than"),
            ({"settings": {"model.dimension": 10**18}}, "cannot be built|parameters, more than"),
            ({"settings": {"train.batch_size": 10**20}}, "train.batch_size: "),
            ({"model": "gpt5"}, "unknown model 'gpt5'; choose from small"),
            ({"train_scales": (0, 1)}, r"train_scales\.0: Input should be greater than or equal to 1, got 0"),
            ({"test_scales": (3, 2)}, "test_scales must rise"),
            ({"device": "abacus"}, "device: "),
            ({"settings": {"train.speed": 3}}, "there is no setting 'train.speed'; there are train.steps, "),
            ({"settings": {"train.steps": "many"}}, "train.steps: Input should be a valid integer"),
            ({"settings": {"train.learning_rate": -1}}, "train.learning_rate: Input should be greater than 0"),
            ({"settings": {"model.heads": 3}}, "dimension 64 is not a multiple of heads 3"),
            ({"settings": {"position.max_distance": -1}}, "max_distance must be at least 0, got -1"),
            ({"settings": {"position.max_distance": 2.5}}, "position.rpe-square.max_distance: "),
            ({"settings": {"colour": 1}}, "there is no setting 'colour'"),
        ],
    )
    def test_what_is_refused(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            make_config(**{"task": "copy", "position": "rpe-square", **arguments})

    def test_an_option_no_position_has(self):
        with pytest.raises(ValueError, match=r"no position asked for has position\.base"):
            make_configs("copy", ["rpe", "rpe-square"], settings={"position.base": 3.0})
        with pytest.raises(ValueError, match="named twice"):
            make_configs("copy", ["rpe", "rpe"])


OWN = """
from ldhd.positions import RPE
from ldhd.tasks import Format, Task
from ldhd.tasks.copy import Strings, CopyFormat


def backwards(latent):
    return latent[::-1]


class ReverseFormat(CopyFormat):
    def needs(self, latent, label):
        n = len(latent)
        return [{"x": n - k if k < n else None} for k in range(n + 1)]


class Reverse(Task):
    def __init__(self):
        super().__init__("reverse", Strings(10), backwards, ReverseFormat())


class Mine(RPE):
    pass


class Needy(RPE):
    def __init__(self, dimension, heads, layer=0, *, colour, shade: int = 2):
        super().__init__(dimension, heads, layer)


class Broken(RPE):
    def __init__(self, dimension, heads, layer=0):
        raise RuntimeError("out of order")


class BrokenTask(Task):
    def __init__(self):
        raise RuntimeError("out of order")


NUMBER = 3
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "ldhd_own_parts.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return "ldhd_own_parts"


class TestOwnParts:
    def test_a_user_s_task_and_embedding(self, own_module, tmp_path):
        assert load_task(f"{own_module}:Reverse").read("b123=").answer == "321e"
        config = tiny(f"{own_module}:Mine", f"{own_module}:Reverse")
        record = run(config, tmp_path / "runs")
        assert record.task == f"{own_module}:Reverse"
        assert load_run(tmp_path / "runs" / config.hash, trust=True)[1].name == "reverse"

    @pytest.mark.parametrize(
        ("name", "message"),
        [("absent_module:X", "No module named"), ("ldhd_own_parts:X", "has no attribute"), (":X", "cannot load")],
    )
    def test_what_cannot_be_loaded(self, own_module, name, message):
        with pytest.raises(ValueError, match=f"cannot load task.*{message}|{message}"):
            load_task(name)

    def test_what_raises(self, own_module, tmp_path):
        with pytest.raises(ValueError, match=r"cannot make task .*: RuntimeError: out of order"):
            load_task(f"{own_module}:BrokenTask")
        with pytest.raises(ValueError, match="cannot be built: out of order"):
            make_config("copy", f"{own_module}:Broken")
        with pytest.raises(ValueError, match=f"position.{own_module}:Needy.colour: Field required"):
            make_config("copy", f"{own_module}:Needy")
        assert make_config("copy", f"{own_module}:Needy", settings={"position.colour": "red"})
        for name, content in {"ldhd_own_syntax": "def", "ldhd_own_error": "1 / 0"}.items():
            (tmp_path / f"{name}.py").write_text(content)
            with pytest.raises(ValueError, match=r"cannot load task .*Error"):
                load_task(f"{name}:X")

    def test_what_is_something_else(self, own_module):
        with pytest.raises(ValueError, match="is no task"):
            load_task(f"{own_module}:NUMBER")
        with pytest.raises(ValueError, match="is no position embedding"):
            position_options(f"{own_module}:NUMBER", {})


def files(folder: Path) -> dict[str, bytes]:
    """What a run leaves, without what depends on the clock."""
    record = json.loads((folder / "record.json").read_text())
    del record["seconds"], record["sha256"]
    found = {name: (folder / name).read_bytes() for name in ("config.json", "metrics.jsonl", "model.safetensors")}
    return {**found, "record.json": json.dumps(record).encode()}


class TestRun:
    def test_folder_and_record(self, tmp_path):
        config = tiny()
        record = run(config, tmp_path, command="ldhd run copy")
        folder = tmp_path / config.hash
        names = {path.name for path in folder.iterdir()}
        assert names == {
            "config.json",
            "record.json",
            "start.json",
            "trace.json",
            "metrics.jsonl",
            "model.safetensors",
            "checkpoints",
        }
        assert RunFolder(folder).record() == record
        assert RunFolder(folder).config() == config
        assert [result.scale for result in record.results] == [1, 2, 4]
        assert (record.hash, record.task, record.position, record.seed) == (config.hash, "copy", "rpe-square", 0)
        assert record.model == "small(heads=2, dimension=16)"
        assert (record.steps, record.train_scales, record.command) == (8, [1, 2], "ldhd run copy")
        contract = {"hash", "task", "position", "model", "seed", "train_scales", "fitted", "results", "steps"}
        contract |= {"seconds", "threads", "precision", "hard", "started", "version", "commit", "command", "sha256"}
        assert set(json.loads((folder / "record.json").read_text())) == contract
        assert set(json.loads((folder / "record.json").read_text())["results"][0]) == {
            "scale",
            "n",
            "exact",
            "low",
            "high",
            "per_token",
            "per_position",
        }

    def test_a_finished_run_is_not_run_again(self, tmp_path):
        first = run(tiny(), tmp_path)
        stages = []
        assert run(tiny(), tmp_path, on_progress=stages.append) == first
        assert stages == []

    @pytest.mark.parametrize("stop_at", [1, 4, 7])
    def test_an_interrupted_run_ends_as_if_nothing_had_happened(self, tmp_path, stop_at):
        run(tiny("abacus"), tmp_path / "whole")
        calls = iter(range(100))
        with pytest.raises(Interrupted, match=f"stopped at step {stop_at} of 8"):
            run(tiny("abacus"), tmp_path / "cut", stop=lambda: next(calls) >= stop_at)
        assert not (tmp_path / "cut" / tiny("abacus").hash / "record.json").exists()
        run(tiny("abacus"), tmp_path / "cut")
        folder = tiny("abacus").hash
        assert files(tmp_path / "cut" / folder) == files(tmp_path / "whole" / folder)

    def test_fitted_looks_at_training_scales_even_when_they_are_not_tested(self, tmp_path):
        config = tiny(steps=1)
        config = config.model_copy(update={"test_scales": (4,)})
        record = run(config, tmp_path)
        assert [result.scale for result in record.results] == [4]
        assert record.fitted is False

    def test_progress_tells_the_stages(self, tmp_path):
        seen = []
        run(tiny(), tmp_path, on_progress=seen.append)
        assert [p.stage for p in seen] == ["training"] * 8 + ["testing"] * 3 + ["done"]
        assert seen[7].done == seen[7].total == 8
        assert set(seen[7].accuracy) == {"1", "2"}

    def test_seeds_differ_and_the_same_seed_does_not(self, tmp_path):
        a, b, c = (run(tiny(seed=seed), tmp_path / str(i)) for i, seed in enumerate((0, 0, 1)))
        weights = [(tmp_path / str(i) / r.hash / "model.safetensors").read_bytes() for i, r in enumerate((a, b, c))]
        assert weights[0] == weights[1] != weights[2]

    def test_a_table_too_short_is_refused_before_anything_is_written(self, tmp_path):
        config = tiny("absolute", settings={"position.table_size": 8})
        with pytest.raises(ValueError, match="copy at scale 4 does not fit absolute: a string of 10 tokens is longer"):
            run(config, tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_strings_are_measured_without_their_end_at_training_scales_too(self, tmp_path):
        run(tiny("absolute", settings={"position.table_size": 10}), tmp_path)
        abacus = {"position.table_size": 100, "position.max_offset": 99}
        with pytest.raises(ValueError, match="copy at scale 2 does not fit abacus: digit ids up to 101 are needed"):
            run(tiny("abacus", settings=abacus), tmp_path)
        run(tiny("abacus", settings={**abacus, "position.max_offset": 98}), tmp_path)
        config = tiny("absolute", "addition", settings={"position.table_size": 123})
        with pytest.raises(ValueError, match="addition at scale 40 does not fit absolute: a string of 124 tokens"):
            check(config.model_copy(update={"test_scales": (40,)}))

    def test_width_of_aligned_addition_is_the_run_s_largest_scale(self, tmp_path):
        config = tiny(task="addition-aligned")
        run(config, tmp_path)
        assert load_run(tmp_path / config.hash)[1].format.width == 4

    def test_evaluate_run_repeats_and_extends_the_record(self, tmp_path):
        config = tiny()
        record = run(config, tmp_path)
        _, results = evaluate_run(tmp_path / config.hash, (2, 9))
        assert results[0].exact == record.exact(2)
        assert results[0].per_position == record.results[1].per_position
        assert results[1].scale == 9

    def test_evaluate_run_keeps_to_what_fits(self, tmp_path):
        aligned, absolute = tiny(task="addition-aligned"), tiny("absolute", settings={"position.table_size": 12})
        for config in (aligned, absolute):
            run(config, tmp_path)
        with pytest.raises(ValueError, match="does not fit the aligned width 4"):
            evaluate_run(tmp_path / aligned.hash, (2, 9))
        with pytest.raises(ValueError, match="longer than the table of 12"):
            evaluate_run(tmp_path / absolute.hash, (2, 9))

    def test_options_of_an_altered_config(self, tmp_path):
        """Also if nothing was wrong with its digest, as with files from before there was one."""
        config = tiny("rpe")
        run(config, tmp_path)
        path = tmp_path / config.hash / "config.json"
        path.write_text(path.read_text().replace('"max_distance": 1024', '"max_distance": "far"'))
        with pytest.raises(BadFileError, match=r"config\.json was altered"):
            load_run(tmp_path / config.hash)
        altered = json.loads(path.read_text())
        del altered["sha256"]
        path.write_text(json.dumps(altered))
        with pytest.raises(ValueError, match=r"position\.rpe\.max_distance"):
            load_run(tmp_path / config.hash)

    def test_test_instances_are_no_training_instances(self, tmp_path):
        """The streams of training, live accuracy and tests differ, whatever the seed."""
        streams = {
            seeds.derive(0, *purpose) for purpose in (("train",), ("train", 1), ("live", 1), ("test", "copy", 1))
        }
        assert len(streams) == 4
        copy = load_task("copy")
        seen = {i.prompt for i in copy.sample_training((9,), 300, seeds.generator(0, "train"))}
        stream = seeds.generator(0, "test", "copy", 9)
        assert not seen & {copy.sample(9, stream).prompt for _ in range(300)}

    def test_what_is_no_run(self, tmp_path):
        with pytest.raises(ValueError, match="there is no such folder"):
            load_run(tmp_path / "absent")
        with pytest.raises(ValueError, match=r"holds no config\.json"):
            load_run(tmp_path)
        (tmp_path / "config.json").write_text('{"task": "copy"')
        with pytest.raises(BadFileError, match=r"config\.json is not whole"):
            load_run(tmp_path)
        (tmp_path / "config.json").write_text('{"task": "copy"}')
        with pytest.raises(BadFileError, match=r"config\.json cannot be read by this version"):
            load_run(tmp_path)


@pytest.mark.parametrize("position", [*POSITIONS, "rpe-square+rpe-absolute"])
def test_every_embedding_builds_and_has_finite_gradients(position):
    model = build_model(MODELS["small"], position, position_options(position, {}))
    logits = model(torch.randint(17, (2, 30)))
    logits.square().mean().backward()
    assert logits.shape == (2, 30, 17)
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
