"""Whether a trained latent window is right on every instance of its task, whatever the length."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from ldhd import seeds
from ldhd.certify.contexts import LARGEST, MOST_SLOTS, Contexts, Enumeration, union
from ldhd.certify.heads import LONGEST, Head, RefusedError, attention_of, read_heads
from ldhd.certify.machines import MACHINES, Machine, answer_of
from ldhd.certify.network import Attended, Network, attend
from ldhd.certify.realise import prompt_of
from ldhd.certify.shapes import Form, Shape, View, all_shapes, form_of, longest_run, look, reachable_states
from ldhd.evaluate import greedy
from ldhd.model import GPT
from ldhd.tasks import Instance, Task
from ldhd.tasks.tokens import decode, encode

Verdict = Literal["certified", "counterexample", "refused"]
Views = dict[View, dict[Form, Shape]]
Failure = tuple[Shape, frozenset[int], Contexts]
"""A shape, the slots that were bounded instead of enumerated, and the contexts that fail."""
OnProgress = Callable[[int, int], None]

CHECKED_SCALES = (1, 2, 3, 5, 8, 13, 40, 150)
CHECKED = 8
"""Instances of each of these scales on which the network and the machine are compared with what was derived."""


@dataclass(frozen=True)
class Certificate:
    """The result of `certify`."""

    task: str
    verdict: Verdict
    contexts: int = 0
    """How many contexts were computed."""
    views: int = 0
    margin: float | None = None
    """The smallest logit of a right token minus the best other one, over all contexts, in exact arithmetic."""
    bound: float | None = None
    """How far float32 can at most be from it, where that comes closest to the margin; None if there is no bound."""
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
                f"and the smallest margin is {self.margin:.2f}"
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
    machine = MACHINES.get(task.name)
    if machine is None:
        raise RefusedError(
            f"there is no machine with a bounded memory for the task {task.name}; there are {', '.join(MACHINES)}"
        )
    heads = read_heads(model, alphabet(machine))
    _check_machine(machine, task)
    views = find_views(machine, heads)
    states = {view: attend(model, heads, view).without_faint(_base(machine)) for view in views}
    for view, forms in views.items():
        _check_size(machine, view, forms, heads, states[view].faint)
    network, enumeration = Network(model), Enumeration(machine)
    measured = _check_network(model, network, task, machine, heads)
    count, worst, closest = 0, np.inf, (np.inf, np.inf, 0.0)
    failures: list[Failure] = []
    for done, (view, forms) in enumerate(views.items()):
        on_progress(done, len(views))
        attended = states[view]
        contexts = {form: enumeration.contexts(form.without(attended.faint)) for form in forms}
        every = union(contexts.values())
        if not len(every):
            continue
        count += len(every)
        margins, errors = network.judge(attended, every)
        slack = margins - errors
        _check_drift(network, attended, every[(slack <= 0) & (margins > 0)])
        worst = min(worst, float(margins.min()))
        closest = min(closest, (float(slack.min()), float(margins[slack.argmin()]), float(errors[slack.argmin()])))
        wrong = every[margins <= 0]
        if len(wrong):
            for form, own in contexts.items():
                found = np.intersect1d(own, wrong)
                if len(found):
                    failures.append((forms[form], attended.faint, found))
    on_progress(len(views), len(views))
    if failures:
        return _counterexample(model, task, machine, heads, failures, count)
    _, margin, error = closest
    bound = error if np.isfinite(error) else None
    return Certificate(
        task.name,
        "certified",
        contexts=count,
        views=len(views),
        margin=worst,
        bound=bound,
        measured=measured,
        float32=margin > error,
        assumptions=_assumptions(task, margin > error, measured),
    )


def _check_drift(network: Network, attended: Attended, contexts: Contexts) -> None:
    """Refuse contexts that hidden keys and digits that hardly matter could make wrong, even in exact arithmetic."""
    if not len(contexts):
        return
    margins, errors = network.judge(attended, contexts, unit=0.0)
    worst = int((margins - errors).argmin())
    if margins[worst] <= errors[worst]:
        raise RefusedError(f"a margin of {margins[worst]:.2g} is not above its bound {errors[worst]:.2g}")


def alphabet(machine: Machine) -> str:
    """Return the tokens that occur in the strings of a machine before their `e`."""
    delimiters = [token for k, token in enumerate(machine.layout) if not (k and token.isalpha())]
    return "".join(delimiters) + "0123456789"[: _base(machine)]


def _base(machine: Machine) -> int:
    """Return the number of digits that occur."""
    return getattr(machine, "base", 10)


def find_views(machine: Machine, heads: Sequence[Head]) -> Views:
    """Return every view that some lengths have, each with its forms and the smallest shape of each form."""
    run, window = longest_run(machine), max((head.window for head in heads), default=1)
    views: Views = defaultdict(dict)
    for shape in all_shapes(machine, run + 2 * window + 5):
        view, slots = look(machine, shape, heads)
        views[view].setdefault(form_of(machine, shape, slots, run), shape)
    return dict(views)


def _check_size(
    machine: Machine, view: View, forms: dict[Form, Shape], heads: Sequence[Head], faint: frozenset[int]
) -> None:
    """Refuse a view with too many contexts, and name the heads that show digits far from the others."""
    known = set().union(*(form.slots(machine.layout[-1]) for form in forms), faint)
    # a state knows the numbers that do not grow, and the digits of the answer follow from the others and a state
    size = len(reachable_states(machine)) * _base(machine) ** (view.slots - len(known))
    if size <= LARGEST and view.slots <= MOST_SLOTS:
        return
    far = [head for head in heads if "=" not in head.anchors and head.anchors - {"b"} and not head.from_start]
    named = "; ".join(
        f"head {head.index} counts from {' and '.join(sorted(head.anchors))} but not from =, so what it sees of the "
        "other numbers is far from the place of the answer token"
        for head in far
    )
    raise RefusedError(f"the heads see {view.slots} digits at once, up to {size:.0e} contexts: {named or 'too many'}")


def _check_machine(machine: Machine, task: Task) -> None:
    for instance in _samples(task):
        if answer_of(machine, instance.prompt) != instance.answer:
            raise RefusedError(f"the machine of {task.name} does not write the answer to {instance.prompt}")


def _samples(task: Task) -> list[Instance]:
    found = []
    for scale in CHECKED_SCALES:
        stream = seeds.generator(0, "certify", task.name, scale)
        found += [task.sample(scale, stream) for _ in range(CHECKED)]
    return found


@torch.inference_mode()
def _check_network(model: GPT, network: Network, task: Task, machine: Machine, heads: list[Head]) -> float:
    """Return how far the logits of the network are from the derived ones on real strings; refuse if that is far."""
    largest = 0.0
    known: dict[View, Attended] = {}
    for instance in _samples(task):
        tokens = torch.tensor([encode(instance.text)[:-1]], device=model.tokens.weight.device)
        logits = model(tokens, exploring=False)[0, len(instance.prompt) - 1 :].double().cpu().numpy()
        places = {*range(min(6, len(logits))), *range(0, len(logits), 7), *range(max(0, len(logits) - 4), len(logits))}
        for t in sorted(places):
            view, digits = _read(machine, heads, instance, t)
            attended = known[view] = known.get(view) or attend(model, heads, view)
            state = attended.base + sum(attended.slots[slot][digit] for slot, digit in enumerate(digits))
            largest = max(largest, float(np.abs(logits[t] - network.logits(state)).max()))
    if largest > 0.05:
        raise RefusedError(
            f"its logits differ by up to {largest:.2g} from those of what its heads should see: something else counts"
        )
    return largest


def _read(machine: Machine, heads: list[Head], instance: Instance, t: int) -> tuple[View, list[int]]:
    """Return the view before answer token t of an instance, and the digits in its slots."""
    text = instance.text[: len(instance.prompt) + t]
    numbers: dict[str, str] = {}
    rest = text.removeprefix("b")
    for letter, delimiter in zip(machine.layout[1:-1:2], machine.layout[2:-1:2], strict=True):
        numbers[letter], _, rest = rest.partition(delimiter)
    numbers[machine.layout[-1]] = rest
    shape = Shape(tuple(len(numbers[letter]) for letter in machine.growing), t)
    view, slots = look(machine, shape, heads)
    digits = [0] * view.slots
    for (letter, place), slot in slots.items():
        digits[slot] = int(numbers[letter][place])
    return view, digits


def _counterexample(
    model: GPT,
    task: Task,
    machine: Machine,
    heads: list[Head],
    failures: list[Failure],
    count: int,
) -> Certificate:
    """Turn the failing context of the shortest string into that string, and let the model answer it."""
    for shape, faint, contexts in sorted(failures, key=lambda failure: sum(failure[0].lengths)):
        slots = {place: slot for place, slot in look(machine, shape, heads)[1].items() if slot not in faint}
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
                    contexts=count,
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
