"""Whether a trained latent window is right on every instance of its task, whatever the length."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from ldhd.certify.checks import CHECKED_SCALES, check_machine, check_network
from ldhd.certify.heads import LONGEST, Head, RefusedError, attention_of, read_heads
from ldhd.certify.machines import MACHINES, Machine
from ldhd.certify.network import Network
from ldhd.certify.realise import prompt_of
from ldhd.certify.search import Findings, OnProgress, search
from ldhd.certify.shapes import look
from ldhd.evaluate import greedy
from ldhd.model import GPT
from ldhd.tasks import Task
from ldhd.tasks.tokens import VOCABULARY, decode, encode

Verdict = Literal["certified", "counterexample", "refused"]


@dataclass(frozen=True)
class Certificate:
    """The result of `certify`."""

    task: str
    verdict: Verdict
    contexts: int = 0
    """How many contexts were computed."""
    views: int = 0
    margin: float | None = None
    """No logit of a right token is above the best other one by less; in float32 if `float32`, else exactly."""
    bound: float | None = None
    """How much of a margin float32, and digits that were not enumerated, can take away at most, in the context where
    least is left; None if there is no bound."""
    measured: float | None = None
    """The largest difference found between the network in float32 and the exact logits, on real strings."""
    float32: bool = False
    """Whether every margin is above its bound, so that the network in float32 is right, too."""
    assumptions: list[str] = field(default_factory=list)
    counterexample: str | None = None
    reason: str | None = None
    seconds: float = 0.0

    def sentence(self) -> str:
        """Say in one sentence what was found."""
        if self.verdict == "certified":
            how = "in float32" if self.float32 else "in exact arithmetic"
            return (
                f"certified {how} for all lengths: none of {self.contexts:,} contexts is wrong, "
                f"and every margin is at least {self.margin:.2f}"
            )
        if self.verdict == "counterexample":
            return f"wrong on {self.counterexample}: {self.reason}"
        return f"no certificate: {self.reason}"

    def document(self, run: str, weights: str) -> dict[str, Any]:
        """Return the certificate as in certificate.json; `weights` is the digest of the weights it is about."""
        return {"run": run, "weights": weights, **asdict(self)}


def certify(model: GPT, task: Task, on_progress: OnProgress = lambda done, total: None) -> Certificate:
    """Return the certificate of a trained model, a counterexample, or why neither can be given."""
    start = time.monotonic()
    try:
        certificate = _certify(model, task, on_progress)
    except RefusedError as refusal:
        certificate = Certificate(task.name, "refused", reason=str(refusal))
    return _timed(certificate, time.monotonic() - start)


def without_heads(model: GPT, heads: Sequence[int]) -> GPT:
    """Switch heads of a model with one layer off, in place: they add nothing to the hidden state."""
    for head in heads:
        attention, size = attention_of(model), model.position.head_dimension
        if not 0 <= head < attention.heads:
            raise ValueError(f"there is no head {head}; the heads are 0 to {attention.heads - 1}")
        attention.out.weight.data[:, head * size : (head + 1) * size] = 0.0
    return model


def _timed(certificate: Certificate, seconds: float) -> Certificate:
    return Certificate(**{**vars(certificate), "seconds": round(seconds, 2)})


def _certify(model: GPT, task: Task, on_progress: OnProgress) -> Certificate:
    if task.vocabulary != VOCABULARY:
        raise RefusedError(f"{task.name} has tokens of its own, and machines read {VOCABULARY.characters} alone")
    machine = MACHINES.get(task.name)
    if machine is None:
        raise RefusedError(
            f"there is no machine with a bounded memory for the task {task.name}; there are {', '.join(MACHINES)}"
        )
    heads = read_heads(model, machine.alphabet())
    check_machine(machine, task)
    network = Network(model)
    measured = check_network(model, network, task, machine, heads)
    views, found = search(model, network, machine, heads, on_progress)
    if found.failures:
        return _counterexample(model, task, machine, heads, found)
    margin, error = found.closest
    return Certificate(
        task.name,
        "certified",
        contexts=found.contexts,
        views=views,
        margin=found.floor,
        bound=error if np.isfinite(error) else None,
        measured=measured,
        float32=margin > error,
        assumptions=_assumptions(task, margin > error, measured),
    )


def _counterexample(model: GPT, task: Task, machine: Machine, heads: list[Head], found: Findings) -> Certificate:
    """Turn the failing context of the shortest string into that string, and let the model answer it."""
    for shape, numbers, contexts in sorted(found.failures, key=lambda failure: sum(failure[0].lengths)):
        seen = look(machine, shape, heads)[1]
        slots = {place: numbers[slot] for place, slot in seen.items() if slot in numbers}
        for context in contexts[:20]:
            prompt = prompt_of(machine, shape, slots, int(context))
            if prompt is None:
                continue
            answer = task.read(prompt).answer
            output = decode(greedy(model, [encode(prompt)], len(answer))[0])
            if output != answer:
                return Certificate(
                    task.name,
                    "counterexample",
                    contexts=found.contexts,
                    counterexample=prompt,
                    reason=f"it writes {output} instead of {answer}",
                )
    raise RefusedError("in exact arithmetic some tokens are wrong, but float32 hides it on the strings that were tried")


def _assumptions(task: Task, float32: bool, measured: float) -> list[str]:
    found = [
        f"the strings are instances of {task.name} and have at most {LONGEST:.0e} tokens",
        f"the enumeration code is right; it was compared with the network on strings up to scale {max(CHECKED_SCALES)}",
    ]
    if float32:
        return [
            *found,
            "float32 as in IEEE 754, sums in any order, exp and sigmoid right to 16 units in the last place",
        ]
    return [
        *found,
        "the margins hold in exact arithmetic; the worst case of float32 is above some of them, and its errors were "
        f"only measured, at most {measured:.1e}",
    ]
