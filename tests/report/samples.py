"""Run folders made by hand, as runs write them, without training."""

import math
from hashlib import sha256

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Record, make_config
from ldhd.experiments.groups import group_runs
from ldhd.files import write_json, write_lines
from ldhd.statistics import wilson

TRAIN, TEST = (1, 2, 3, 4), (1, 2, 3, 4, 5, 6, 8)


def config_of(task="copy", position="rpe-square", seed=0, **given):
    given = {"train_scales": TRAIN, "test_scales": TEST, "steps": 400} | given
    given["settings"] = {"test_instances": 100} | given.get("settings", {})
    return make_config(task, position, seed=seed, built=False, **given)


def result_of(scale, exact, n=100, carries=None):
    low, high = wilson(round(exact * n), n)
    tokens = [1.0 - (1.0 - exact) * (k + 1) / (scale + 1) for k in range(scale + 1)]
    return ScaleResult(scale, n, exact, low, high, sum(tokens) / len(tokens), tokens, carries)


def record_of(config, beyond=1.0, within=1.0, carries=None, command="ldhd run copy"):
    limit = max(config.train_scales)
    results = [
        result_of(s, within, carries=carries) if s <= limit else result_of(s, beyond, carries=carries)
        for s in config.test_scales
    ]
    return Record(
        hash=config.hash, task=config.task, position=config.position, model=config.model, seed=config.seed,
        train_scales=list(config.train_scales), fitted=within >= 0.99, results=results, steps=400, seconds=12.5,
        threads=1, version="0.1.0", commit="c0ffee" * 5, command=command,
    )  # fmt: skip


def plain_record(position="rpe", seed=0, exact=(1.0, 0.0), fitted=True, model="small"):
    """A record that needs no config: exact match at scales 5 and 10."""
    results = [
        ScaleResult(scale=scale, n=10, exact=value, low=0.0, high=1.0, per_token=value, per_position=[1.0, value])
        for scale, value in zip((5, 10), exact, strict=True)
    ]
    return Record(
        hash=sha256(f"{position}{seed}{model}".encode()).hexdigest()[:12],
        task="copy", position=position, model=model, seed=seed, train_scales=[1, 2, 3, 4, 5],
        fitted=fitted, results=results, steps=1, seconds=1.0, threads=1, version="0", commit=None, command="",
    )  # fmt: skip


def grouped(records):
    """The groups of records of copy, whose configs differ in embedding, model and seed."""
    configs = {}
    for record in records:
        config = make_config("copy", "rpe", model=record.model, seed=record.seed, built=False)
        configs[record.hash] = config.model_copy(update={"position": record.position})
    return group_runs(records, configs)


def metrics_of(fitted=True, whole=True):
    """A course of training; with `whole`, also anchor entropies and attention on the needed slots."""
    rows = []
    for step in range(50, 401, 50):
        done = step / 400 if fitted else 0.3 * step / 400
        row = {"step": step, "loss": 2 - done, "learning_rate": 0.001, "gradient_norm": 1.0}
        row["accuracy"] = {str(scale): min(1.0, done * 5 / scale) for scale in TRAIN}
        if whole:
            row["anchor_entropy"] = [[2 - 1.9 * done, 2 - 1.8 * done]]
            row["needed"] = {"x": 0.1 + 0.88 * done, "previous": 0.2 + 0.7 * done}
        rows.append(row)
    return rows


def trace_of(text="b31415=31415e", output="31415e", terms=True):
    """A copy whose prompt is anchored at b and whose answer is anchored at =, two heads in one layer."""
    prompt, n = text.index("=") + 1, len(text)
    answers = n - prompt

    def spread(index, length, sharp):
        powers = [math.exp(-sharp * abs(i - index)) if i < length else 0.0 for i in range(n)]
        return [round(power / sum(powers), 3) for power in powers]

    heads = [
        [spread(min(k + 1, prompt - 1), prompt + k, sharp) for k in range(answers)] for sharp in (4.0, 0.3)
    ]  # fmt: skip
    anchors = [[spread(0 if j < prompt - 1 else prompt - 1, j + 1, 5.0) for j in range(n)]]
    wrong = [k for k in range(answers) if output[k : k + 1] != text[prompt + k]]
    return {
        "text": text,
        "prompt": prompt,
        "scale": answers - 1,
        "output": output,
        "first_error": wrong[0] if wrong else None,
        "needs": [{"x": k + 1} if k < answers - 1 else {"x": None} for k in range(answers)],
        "attention": [heads],
        "anchors": [{"layer": 0, "term": "rpe-square", "weights": anchors}],
        "terms": [[[[4 * w for w in row] for row in head] for head in heads]] if terms else [],
    }


def write_run(out, config, record=None, metrics=None, trace=None):
    """A run's folder; without a record it is unfinished."""
    folder = out / config.hash
    write_json(folder / "config.json", config.model_dump(mode="json"))
    if metrics is not None:
        write_lines(folder / "metrics.jsonl", metrics)
    if trace is not None:
        write_json(folder / "trace.json", trace)
    if record is not None:
        write_json(folder / "record.json", record.model_dump(mode="json"))
    return folder


def write_sample(out, seeds=3):
    """Two tasks: rpe-square right but for one seed of addition that does not fit, rpe fitted and wrong beyond."""
    carries = [(k, length, 90 - 20 * length, 100) for k in range(5) for length in range(min(k, 3) + 1)]
    for seed in range(seeds):
        config = config_of("copy", "rpe-square", seed)
        write_run(out / "copy", config, record_of(config), metrics_of(), trace_of())
        config = config_of("copy", "rpe", seed)
        trace = trace_of(output="31411e") | {"anchors": []}
        write_run(out / "copy", config, record_of(config, beyond=0.04 * seed), metrics_of(whole=False), trace)
        config = config_of("addition", "rpe-square", seed)
        fits = seed != seeds - 1
        record = record_of(config, 0.97 if fits else 0.1, 1.0 if fits else 0.4, carries, "ldhd run addition")
        write_run(out / "addition", config, record, metrics_of(fits), trace_of("b12+34=46e", "46e" if fits else "45e"))


def prediction(task, position, verdict, witness=None, max_scale=8):
    config = config_of(task, position, 0)
    given = {"task": task, "position": position, "verdict": verdict, "witness": witness, "max_scale": max_scale}
    options = {term: {"max_distance": own["max_distance"]} for term, own in config.position_options.items()}
    scales = {"train_scales": list(config.train_scales), "test_scales": list(config.test_scales)}
    return {**given, **scales, "layers": config.model_options.layers, "position_options": options}


PREDICTIONS = {
    "predictions": [
        prediction("copy", "rpe-square", "generalises"),
        prediction("copy", "rpe", "generalises", "b1= & b2="),
        prediction("addition", "rpe-square", "undecided", {"slot": "x", "words": "two tokens, one relation"}),
        prediction("parity", "rpe", "fails"),
    ]
}
LEDGER = {
    "claims": [
        {"id": "theorem-1", "claim": "a < b", "verdict": "holds", "correction": None, "evidence": {"n": 3}},
        {"id": "example-3", "claim": "4x1", "verdict": "fails as printed", "correction": "4x1 + 3", "evidence": {}},
    ]
}


def case(name, ratio, spread, measure="speed", n=None):
    given = {"case": name, "shape": "small", "ratio": ratio, "spread": spread, "against": "GPT-2"}
    return given | {"measure": measure, "n": n}


BENCH = {
    "cases": [
        case("step", 1.9, [1.6, 2.1]),
        *(case("rpe, forward", n / 24, [n / 25, n / 23], "growth", n) for n in (24, 48, 96)),
    ],
    "machine": {"cores": 2},
}
