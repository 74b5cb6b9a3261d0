"""Registered predictions against runs: what counts, and what does not."""

import json
import subprocess

import pytest

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Record
from ldhd.experiments.config import make_config
from ldhd.experiments.folder import RunFolder
from ldhd.experiments.predictions import entry, load_source, predictions
from ldhd.experiments.registered import FILE, Register, compare, find_entry, untested, verdict_at
from ldhd.experiments.registering import new_entries, write_entries
from ldhd.experiments.scoring import count
from ldhd.experiments.start import Start
from ldhd.report.theory import compare_measured


def run(position="rpe-square", exact=1.0, seed=0, commit=None, fitted=True, test_scales=(1, 10), dirty=None, **given):
    config = make_config("copy", position, seed=seed, test_scales=test_scales, built=False, **given)
    results = [
        ScaleResult(scale=scale, n=10, exact=exact, low=0.0, high=1.0, per_token=exact, per_position=[exact])
        for scale in config.test_scales
    ]
    record = Record(
        hash=config.hash, task="copy", position=position, model=config.model, seed=seed,
        train_scales=list(config.train_scales), fitted=fitted, results=results, steps=1, seconds=1.0, threads=1,
        version="0", commit=commit, command="", started=None if dirty is None else Start(commit=commit, dirty=dirty),
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
    write_entries(folder / FILE, [entry(*named) for named in made])
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
        for commit in (repository[1], None, "0" * 40):
            row = one(seeds(commit=commit), repository)
            assert (row.predicted, row.registered) == ("generalises", False)

    def test_what_has_too_few_seeds_or_no_prediction_stays_open(self, repository):
        assert one(seeds(2, commit=repository[2]), repository).outcome == "open"
        assert one(seeds(commit=repository[2], position="rope"), repository).outcome == "open"

    def test_that_it_does_not_fit_is_a_verdict_like_others(self, repository):
        assert one(seeds(commit=repository[2], fitted=False), repository).outcome == "miss"
        row = one(seeds(commit=repository[2], position="rpe", settings={"position.max_distance": 2}), repository)
        assert row.predicted is None

    def test_what_was_said_not_to_fit_and_does_not_is_a_hit(self, repository):
        register = Register(repository[0])
        text = (repository[0] / FILE).read_text().replace('"verdict": "generalises"', '"verdict": "does not fit"')
        register.known = dict.fromkeys([repository[2], *register.history], json.loads(text)["predictions"])
        for fitted, outcome in ((False, "hit"), (True, "miss")):
            (row,) = compare(seeds(commit=repository[2], fitted=fitted), register)
            assert (row.predicted, row.outcome) == ("does not fit", outcome)

    def test_predictions_that_no_run_tests_are_counted(self, repository):
        register = Register(repository[0])
        entries = register.at(None)
        left = untested([run()[0], run("rpe", settings={"model.layers": 1})[0]], register)
        assert len(left) == len(entries) - 2
        assert not [found for found in left if found["position"] == "rpe" and found["layers"] == 1]

    def test_a_prediction_with_two_verdicts_says_nothing_about_fitting(self, repository):
        register = Register(repository[0])
        text = (repository[0] / FILE).read_text().replace('"softmax"', '"former"')
        register.known = dict.fromkeys([repository[2], *register.history], json.loads(text)["predictions"])
        (row,) = compare(seeds(commit=repository[2], fitted=False), register)
        assert (row.two_verdicts, row.outcome) == (True, "open")

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
        names = "hits", "misses", "declined", "open", "unregistered", "promises", "false_promises"
        assert [counted["in-sample"][name] for name in names] == [1, 1, 0, 0, 0, 1, 0]
        assert [counted["out-of-sample"][name] for name in names] == [0, 0, 0, 0, 2, 0, 0]
        assert counted["in-sample"]["confusion"]["generalises"]["generalises"] == 1
        assert counted["in-sample"]["confusion"]["fails"]["mixed"] == 1
        assert counted["in-sample"]["baselines"]["always fails"] == {"hits": 0, "wins": 1, "losses": 0, "p": 1.0}

    def test_what_the_paper_did_not_try_is_out_of_sample(self, repository):
        for largest, in_sample in ((7, True), (10, True), (12, False)):
            row = one(seeds(commit=repository[2], test_scales=(1, largest)), repository)
            assert (row.predicted, row.in_sample) == ("generalises", in_sample)

    @pytest.mark.parametrize("verdict", ["undecided", "does not apply"])
    def test_what_the_predictor_cannot_tell_is_declined_and_a_miss_among_all(self, repository, verdict):
        register = Register(repository[0])
        text = (repository[0] / FILE).read_text().replace('"verdict": "generalises"', f'"verdict": "{verdict}"')
        register.known = dict.fromkeys([repository[2], *register.history], json.loads(text)["predictions"])
        rows = compare(seeds(commit=repository[2]), register)
        assert [(row.predicted, row.outcome, row.in_sample) for row in rows] == [(verdict, "declined", False)]
        assert count(rows)["out-of-sample"]["accuracy"] is None
        assert count(rows)["out-of-sample"]["accuracy_of_all"] == 0


class TestTricks:
    """Ways to make a prediction look better than it was, each of them caught."""

    def flip(self, repository):
        """Commit the opposite of every prediction; return the commit."""
        folder = repository[0]
        text = (folder / FILE).read_text()
        flipped = text.replace('"generalises", "softmax"', '"!", "softmax"').replace(
            '"max_scale": 10', '"max_scale": 0'
        )
        flipped = flipped.replace('"verdict": "fails"', '"verdict": "generalises"')
        (folder / FILE).write_text(flipped.replace('"!"', '"fails"'))
        git(folder, "commit", "-q", "-am", "flipped")
        after = git(folder, "rev-parse", "HEAD")
        (folder / FILE).write_text(text)
        git(folder, "commit", "-q", "-am", "back")
        return after

    def test_a_flipped_prediction_with_one_seed_run_again(self, repository):
        after = self.flip(repository)
        wrong = [run(seed=seed, exact=0.0, commit=repository[2], dirty=False) for seed in (0, 1)]
        row = one([*wrong, run(seed=2, exact=0.0, commit=after, dirty=False)], repository)
        assert (row.registered, row.predicted, row.measured, row.outcome) == (True, "generalises", "fails", "miss")
        assert "changed after it was first registered" in row.irregular

    def test_a_flipped_prediction_with_all_seeds_run_again(self, repository):
        row = one(seeds(commit=self.flip(repository), exact=0.0, dirty=False), repository)
        assert (row.predicted, row.measured, row.outcome) == ("generalises", "fails", "miss")

    def test_one_seed_without_a_commit(self, repository):
        """A seed that would spoil a hit, or turn a miss into too few seeds, is not dropped."""
        for exact in (0.0, 1.0):
            good = [run(seed=seed, exact=exact, commit=repository[2], dirty=False) for seed in (0, 1)]
            row = one([*good, run(seed=2, exact=1.0 - exact, commit=None)], repository)
            assert (row.seeds, row.registered, row.outcome) == (3, True, "miss")
            assert "unknown commit" in row.irregular

    def test_one_seed_from_before_the_registration(self, repository):
        late = [run(seed=seed, commit=repository[2], dirty=False) for seed in (0, 1)]
        row = one([*late, run(seed=2, commit=repository[1], dirty=False)], repository)
        assert (row.seeds, row.outcome) == (3, "miss")

    def test_one_seed_from_a_changed_tree(self, repository):
        runs = [run(seed=seed, commit=repository[2], dirty=seed == 2) for seed in range(3)]
        assert "changes that were not committed" in one(runs, repository).irregular

    def test_a_start_that_was_removed_from_a_record(self, repository):
        """From the commit on at which runs record their start, the commit at the end does not stand in for it."""
        register = Register(repository[0])
        register.recording[repository[2]] = True
        (row,) = compare(seeds(commit=repository[2]), register)
        assert not row.registered

    def test_a_run_that_is_stopped_and_resumed_after_registering(self, tmp_path):
        """It keeps the commit at which it was begun; without a note of it, its start is unknown."""
        folder = RunFolder(tmp_path / "run")
        before, after = Start(commit="a" * 40, dirty=False), Start(commit="b" * 40, dirty=False)
        assert folder.begin(before) == before
        folder.checkpoints.mkdir()
        assert folder.begin(after) == before
        folder.start_path.unlink()
        assert folder.begin(after) is None

    def test_a_prediction_is_registered_once(self, repository):
        (known,) = [entry(*named) for named in predictions(["copy"], ["rpe"], layers=(1,))]
        flipped = {**known, "verdict": "generalises"}
        configs = [run("rpe", settings={"model.layers": 1})[0], run("alibi", settings={"model.layers": 1})[0]]
        first, second = new_entries(configs, [flipped], [])
        assert first is None
        assert (second["position"], second["verdict"]) == ("alibi", "does not fit")
        assert second["baselines"] == {"always fails": "fails", "name of the embedding": "fails"}


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
