"""Sweep files: what they stand for, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.experiments.config import make_config
from ldhd.sweep import file
from ldhd.sweep.file import parse_sweep, read_sweep


def test_a_grid_is_tasks_by_positions_by_options_by_seeds():
    text = """
        tasks = ["copy", "parity"]
        positions = ["rpe", "none"]
        seeds = "0-2"
        steps = 7
        [set]
        train.learning_rate = [0.001, 0.002]
        position.max_distance = 3
    """
    configs = parse_sweep(text, "f")
    assert len(configs) == len({config.hash for config in configs}) == 2 * 2 * 2 * 3
    settings = {"train.learning_rate": 0.002, "position.max_distance": 3}
    assert make_config("parity", "rpe", steps=7, seed=2, settings=settings) in configs
    assert make_config("copy", "none", steps=7, settings={"train.learning_rate": 0.001}) in configs


def test_a_list_of_runs_alone_or_beside_a_grid():
    runs = """
        [[runs]]
        task = "copy"
        position = "rpe"
        seeds = [0, 3]
        [[runs]]
        task = "addition"
        position = "rpe-square"
        model = "small"
        train_scales = "1-2"
        test_scales = 4
        set = { "train.steps" = 5, test_instances = 7 }
    """
    expected = [make_config("copy", "rpe"), make_config("copy", "rpe", seed=3)]
    given = {"model": "small", "train_scales": (1, 2), "test_scales": (4,)}
    expected.append(make_config("addition", "rpe-square", **given, settings={"train.steps": 5, "test_instances": 7}))
    assert parse_sweep(runs, "f") == expected
    grid = 'tasks = ["copy"]\npositions = ["rpe", "rope"]\n'
    assert parse_sweep(grid + runs, "f") == [expected[0], make_config("copy", "rope"), *expected[1:]]


GRID = 'tasks = ["copy"]\npositions = ["rpe"]\n'
RUN = '[[runs]]\ntask = "copy"\nposition = "rpe"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: tasks is missing"),
        ("tasks = [", "f is no TOML"),
        ("a = " + "[" * 5000, "f is no TOML"),
        ('tasks = ["copy"]', "f: positions is missing"),
        (GRID + "colour = 1", "f: there is no key 'colour'; keys are tasks, positions, model"),
        (GRID + 'task = "copy"', "f: there is no key 'task'"),
        ('tasks = "copy"\npositions = ["rpe"]', "f: tasks must be a list of names, got 'copy'"),
        ('tasks = []\npositions = ["rpe"]', "f: tasks must be a list of names"),
        ('tasks = ["copy", "copy"]\npositions = ["rpe"]', "f: tasks names something twice"),
        ('tasks = ["juggling"]\npositions = ["rpe"]', "f: unknown task 'juggling'; choose from copy"),
        (GRID + "seeds = -1", "f: seeds: '-1' is neither a number nor a range"),
        (GRID + "seeds = true", "f: seeds: 'True' is neither a number nor a range"),
        (GRID + 'seeds = "x"', "f: seeds: 'x' is neither a number nor a range"),
        (GRID + "seeds = []", "f: seeds: '' is neither a number nor a range"),
        (GRID + "train_scales = [0]", "f: train_scales: values start at 1, got 0"),
        (GRID + "test_scales = [1, 1]", "f: test_scales: '1,1' names a value twice"),
        (GRID + "steps = 0", "f: train.steps: Input should be greater than or equal to 1, got 0"),
        (GRID + "steps = 1.5", "f: train.steps: Input should be a valid integer, got 1.5"),
        (GRID + "model = 3", "f: model must be a name, got 3"),
        (GRID + 'model = "huge"', "f: unknown model 'huge'; choose from small"),
        (GRID + 'device = "tpu"', "f: device: a device is 'cpu', 'cuda', 'cuda:INDEX' or 'mps', got 'tpu'"),
        (GRID + "set = 3", "f: set must be a table"),
        (GRID + "[set]\ncolour = 1", "f: there is no setting 'colour'"),
        (GRID + "[set]\nposition.colour = 1", "f: no position asked for has position.colour"),
        (GRID + "[set]\ntrain.learning_rate = []", "f: set.train.learning_rate must be"),
        (GRID + "[set]\ntrain.learning_rate = 2020-01-01", "f: set.train.learning_rate must be"),
        (GRID + "[set]\ntrain.learning_rate = [1.0, 1.0]", "names a value twice"),
        (GRID + "[set]\ntrain.learning_rate = nan", "f: train.learning_rate: Input should be a finite"),
        (GRID + '[set]\ntrain.steps = 3\n"train.steps" = 4', "f: set.train.steps is given twice"),
        (GRID + 'seeds = "0-99999"\n[set]\ntest_instances = [1, 2]', "would be 200000 runs, more than 100000"),
        (GRID + "[set]\n" + ".".join("a" * 3000) + " = 1", "f"),
        ("runs = 3", "f: runs must be written as"),
        ("[[runs]]", r"f: \[\[runs\]\] number 1: task is missing"),
        (RUN + RUN + "seed = 3", r"f: \[\[runs\]\] number 2: there is no key 'seed'; keys are task, position"),
        (RUN + 'set = { "model.heads" = 3 }', r"number 1: model: dimension 64 is not a multiple of heads 3"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_sweep(text, "f")


def test_what_is_no_text(tmp_path):
    (tmp_path / "f").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="f is no UTF-8 text: invalid start byte at byte 0"):
        read_sweep(tmp_path / "f")
    with pytest.raises(FileNotFoundError):
        read_sweep(tmp_path / "absent")


@given(text=st.text(alphabet='abt=[]"\n#.{}1, '))
def test_any_text_is_a_sweep_or_refused(text):
    try:
        found = parse_sweep(text, "f")
    except ValueError as refused:
        found = str(refused)
    assert found
    assert isinstance(found, list) or found.startswith("f")


def test_the_limit_of_a_sweep_counts_all_blocks(monkeypatch):
    monkeypatch.setattr(file, "LARGEST_SWEEP", 5)
    block = '[[runs]]\ntask = "copy"\nposition = "rpe"\nseeds = "{}"\n'
    assert len(parse_sweep(block.format("0-2") + block.format("3-4"), "x")) == 5
    with pytest.raises(ValueError, match=r"x: \[\[runs\]\] number 2: this would be 6 runs, more than 5"):
        parse_sweep(block.format("0-2") + block.format("3-5"), "x")
