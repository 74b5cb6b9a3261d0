"""The result of `ldhd certify`."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from ldhd.certify import Certificate, certify
from ldhd.certify.certificate import without_heads
from ldhd.certify.search import OnProgress
from ldhd.experiments import RunFolder, load_run
from ldhd.experiments.packaged import MODELS_PATH, run_path
from ldhd.report.terminal import Output


def certify_run(run: Path, heads_off: Sequence[int], on_progress: OnProgress, trust: bool = False) -> Output:
    """Certify a finished run, with some of its heads switched off; with all of them, the result is stored beside it."""
    config, task, model = load_run(run, trust=trust)
    found = certify(without_heads(model, heads_off), task, on_progress)
    folder = RunFolder(run_path(run))
    if not heads_off and MODELS_PATH not in folder.path.parents:
        with contextlib.suppress(OSError):  # the folder may be read-only
            folder.write_certificate(found)
    document = found.document(config.hash, folder.weights_digest())
    if heads_off:
        document["assumptions"].append(f"heads {', '.join(map(str, heads_off))} are switched off")
    return {**document, "heads_off": list(heads_off)}, _lines(config.label, found, document["assumptions"])


def _lines(label: str, found: Certificate, assumptions: Sequence[str]) -> list[str]:
    if found.verdict == "refused":
        return [f"{label}: refused: {found.reason}"]
    if found.verdict == "counterexample":
        return [f"{label}: counterexample {found.counterexample}", f"  {found.reason}"]
    return [
        f"{label}: certified for all lengths",
        f"  {found.contexts:,} contexts in {found.views} views, none wrong; margins are at least {found.margin:.2f}",
        f"  float32: {_bound(found.bound)}; measured at most {found.measured:.1e}",
        *(f"  assumed: {assumption}" for assumption in assumptions),
        f"  {found.seconds:.1f} s",
    ]


def _bound(bound: float | None) -> str:
    return "no bound" if bound is None else f"takes at most {bound:.2g} of the margin where least is left"
