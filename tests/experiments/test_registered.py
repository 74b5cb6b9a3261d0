"""Registered predictions against runs: what counts, and what does not."""

import json
import subprocess

import pytest

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Record
from ldhd.experiments.config import make_config
from ldhd.experiments.predictions import VARIANTS, entry, load_source, predictions
from ldhd.experiments.registered import FILE, Register, compare, count, find_entry, verdict_at
from ldhd.report.theory import compare_measured, write_register


def run(position="rpe-square", exact=1.0, seed=0, commit=None, fitted=True, test_scales=(1, 10), **given):
    config = make_config("copy", position, seed=seed, test_scales=test_scales, built=False, **given)
    results = [
        ScaleResult(scale=scale, n=10, exact=exact, low=0.0, high=1.0, per_token=exact, per_position=[exact])
        for scale in config.test_scales
    ]
    record = Record(
        hash=config.hash, task="copy", position=position, model=config.model, seed=seed,
        train_scales=list(config.train_scales), fitted=fitted, results=results, steps=1, seconds=1.0, threads=1,
        version="0", commit=commit, command="",
    )  # fmt: skip
    return config, record


def seeds(number=3, **given):
    return [run(seed=seed, **given) for seed in range(number)]


def git(folder, *arguments):
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with predictions of copy in its second commit: (folder, first commit, second commit)."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "nothing")
    before = git(folder, "rev-parse", "HEAD")
    made = [
        *predictions(["copy"], ["rpe", "rpe-square", "abacus"]),
        *predictions(["copy"], ["rpe-square"], test_scales=(1, 12)),
    ]
    write_register(folder / FILE, made)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "predictions")
    return folder, before, git(folder, "rev-parse", "HEAD")


def one(runs, repository):
    (row,) = compare(runs, Register(repository[0]))
    return row


class TestComparison:
    def test_a_prediction_that_stood_before_the_runs_counts(self, repository):
        row = one(seeds(commit=repository[2]), repository)
        assert (row.predicted, row.measured, row.outcome) == ("generalises", "generalises", "hit")
        assert row.registered
        assert row.in_sample

    def test_a_wrong_one_is_a_miss(self, repository):
        assert one(seeds(commit=repository[2], exact=0.1), repository).outcome == "miss"
        assert one(seeds(commit=repository[2], exact=0.7), repository).outcome == "miss"

    def test_one_made_afterwards_does_not_count(self, repository):
        for commit in (repository[1], None, "0" * 40, "no commit"):
            row = one(seeds(commit=commit), repository)
            assert (row.predicted, row.registered) == ("generalises", False)

    def test_runs_made_before_the_prediction_are_left_out(self, repository):
        early = [run(seed=seed, exact=0.0, commit=repository[1]) for seed in range(3)]
        row = one([*early, *[run(seed=seed, commit=repository[2]) for seed in (3, 4)]], repository)
        assert (row.registered, row.seeds, row.measured, row.outcome) == (True, 2, "too few seeds", "open")
        row = one([*early, *[run(seed=seed, commit=repository[2]) for seed in (3, 4, 5)]], repository)
        assert (row.registered, row.seeds, row.measured, row.outcome) == (True, 3, "generalises", "hit")

    def test_what_was_not_fitted_or_not_predicted_stays_open(self, repository):
        assert one(seeds(commit=repository[2], fitted=False), repository).outcome == "open"
        assert one(seeds(2, commit=repository[2]), repository).outcome == "open"
        assert one(seeds(commit=repository[2], position="rope"), repository).outcome == "open"

    def test_counts_keep_what_repeats_the_paper_apart(self, repository):
        without = {"position": "abacus", "settings": {"position.max_offset": 0}}
        runs = [
            *seeds(commit=repository[2]),
            *seeds(commit=repository[2], position="rpe", exact=0.8),
            *seeds(commit=repository[1], position="abacus"),
            *seeds(commit=repository[2], **without),
        ]
        rows = compare(runs, Register(repository[0]))
        assert len(rows) == 4
        counted = count(rows)
        assert counted["in-sample"] == {"hits": 1, "misses": 1, "open": 0, "unregistered": 1}
        assert counted["out-of-sample"] == {"hits": 0, "misses": 0, "open": 0, "unregistered": 1}

    def test_what_the_paper_did_not_try_is_out_of_sample(self, repository):
        for largest, in_sample in ((7, True), (10, True), (12, False)):
            row = one(seeds(commit=repository[2], test_scales=(1, largest)), repository)
            assert (row.predicted, row.in_sample) == ("generalises", in_sample)

    def test_undecided_is_a_miss(self, repository):
        folder = repository[0]
        register = Register(folder)
        text = (folder / FILE).read_text().replace('"verdict": "generalises"', '"verdict": "undecided"')
        register.known[repository[2]] = json.loads(text)["predictions"]
        (row,) = compare(seeds(commit=repository[2]), register)
        assert (row.predicted, row.outcome, row.in_sample) == ("undecided", "miss", False)


class TestEntries:
    def test_the_entry_of_a_run_has_its_relations_and_covers_its_scales(self):
        found = [entry(*named) for named in predictions(["copy"], ["rpe-square"], layers=(1, 2))]
        assert find_entry(found, run()[0]) == found[0]
        assert find_entry(found, run(settings={"position.hard": True})[0]) == found[0]
        assert find_entry(found, run(settings={"model.layers": 2})[0]) == found[1]
        assert find_entry(found, run(settings={"model.layers": 5})[0]) == found[1]
        assert find_entry(found, run(settings={"position.max_distance": 3})[0]) is None
        assert find_entry(found, run(train_scales=(1, 2))[0]) is None
        assert find_entry(found, run(test_scales=(1, 11))[0]) is None

    def test_distances_that_no_string_reaches_are_no_clipping(self):
        (unclipped,) = predictions(["copy"], ["rpe"], layers=(2,))
        found = [entry(*unclipped)]
        assert find_entry(found, run("rpe", settings={"position.max_distance": 30})[0]) == found[0]
        assert find_entry(found, run("rpe", settings={"position.max_distance": 20})[0]) is None

    def test_a_failure_at_larger_scales_is_none_below(self):
        (named,) = predictions(["copy"], ["abacus"], layers=(1,), settings={"position.max_offset": 0})
        assert [verdict_at(entry(*named), scale) for scale in (5, 6, 10)] == ["generalises", "fails", "fails"]

    def test_every_variant_can_be_made(self):
        assert len({str(variant) for variant in VARIANTS}) == len(VARIANTS)
        for position, settings in VARIANTS:
            assert list(predictions(["copy"], [position], layers=(1,), test_scales=(1, 2), settings=settings))


def test_a_register_that_is_none_is_refused(tmp_path):
    (tmp_path / "results").mkdir()
    for text in ("[]", "{", '{"predictions": 3}'):
        (tmp_path / FILE).write_text(text)
        with pytest.raises(ValueError, match=r"predictions.json holds no"):
            Register(tmp_path).at(None)


def test_bad_names(tmp_path):
    with pytest.raises(ValueError, match="cannot read the description"):
        load_source(str(tmp_path / "absent.toml"))
    with pytest.raises(ValueError, match="there is no such folder"):
        compare_measured(tmp_path / "absent", "all")
    with pytest.raises(ValueError, match=r"no position asked for has position.colour; there are position.max_distance"):
        list(predictions(["copy"], ["rpe"], settings={"position.colour": 1}))
    with pytest.raises(ValueError, match=r"a prediction takes settings position.X, got model.layers"):
        list(predictions(["copy"], ["rpe"], settings={"model.layers": 1}))
