"""EleutherAI's lm-evaluation-harness gives an exported model the score that ldhd gives it."""

import json

import pytest

from contracts import hub  # noqa: F401
from ldhd.experiments import evaluate_run
from ldhd.hf import export_run

INSTANCES = 100


def test_scores_are_equal_on_500_instances(run, tmp_path):
    pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed: pip install -e '.[lm-eval]'")
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    scales = (1, 2, 3, 4, 5)
    written, _ = export_run(run, tmp_path / "model", test_scales=scales, instances=INSTANCES, lm_eval=True)
    (tmp_path / "model").rename(tmp_path / "moved")
    folder = str(tmp_path / "moved")
    theirs = simple_evaluate(
        model=HFLM(pretrained=folder, device="cpu", batch_size=16),
        tasks=written["lm_eval"][:1],
        task_manager=TaskManager(include_path=folder, include_defaults=False),
        bootstrap_iters=0,
    )["results"]
    _, ours = evaluate_run(run, scales, INSTANCES)
    assert len({result.exact for result in ours}) > 2
    for name, result in zip(written["lm_eval"][1:], ours, strict=True):
        assert theirs[name]["sample_len"] == INSTANCES
        assert theirs[name]["exact_match,none"] == pytest.approx(result.exact, abs=1e-12)
    mean = sum(result.exact for result in ours) / len(ours)
    assert theirs[written["lm_eval"][0]]["exact_match,none"] == pytest.approx(mean, abs=1e-12)


def test_instances_are_those_of_the_run(run, tmp_path):
    written, _ = export_run(run, tmp_path / "model", lm_eval=True)
    assert written["lm_eval"] == ["ldhd_copy", *(f"ldhd_copy_scale_{scale}" for scale in (1, 3, 5))]
    rows = [json.loads(line) for line in (tmp_path / "model" / "scale_5.jsonl").read_text().splitlines()]
    assert len(rows) == 20
    for row in rows:
        assert row["prompt"] == f"b{row['answer']}="
        assert (len(row["answer"]), row["scale"]) == (5, 5)
