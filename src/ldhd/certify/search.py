"""All contexts of a run: those that a bound decides at once, and the others digit by digit.

A digit that moves the state by little need not be enumerated: the error bound of the network can count it instead. So
each view is passed several times. First only the digits that move the state by much are enumerated, and in each later
pass more of them, but only in the contexts that were left open.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ldhd.certify.contexts import LARGEST, MOST_SLOTS, Contexts, Enumeration, union, with_slots
from ldhd.certify.heads import Head, RefusedError
from ldhd.certify.machines import Machine
from ldhd.certify.network import CLEAR, Array, Attended, Network, attend
from ldhd.certify.shapes import Form, Shape, View, all_shapes, form_of, longest_run, look, reachable_states
from ldhd.model import GPT

Forms = dict[Form, Shape]
"""The forms of a view, each with the smallest shape that has it."""
Failure = tuple[Shape, dict[int, int], Contexts]
"""A shape, the numbers of its slots in contexts, and the contexts that fail."""
OnProgress = Callable[[int, int], None]

REACHES = (0.03, 1e-3, 1e-5)
"""In each pass, how far a digit may move the state to be bounded."""


@dataclass
class Findings:
    """What the search has found so far."""

    contexts: int = 0
    floor: float = np.inf
    """No margin is smaller, in float32 or, where that is undecided, in exact arithmetic."""
    closest: tuple[float, float] = (np.inf, 0.0)
    """The margin and its error bound in float32 where they are closest."""
    failures: list[Failure] = field(default_factory=list)

    def add(self, margins: Array, errors: Array, used: Array) -> None:
        """Note contexts that were decided, by the bounds `used`, with their error bounds in float32."""
        if not len(margins):
            return
        self.floor = min(self.floor, float((margins - used).min()))
        worst = int((margins - errors).argmin())
        if margins[worst] - errors[worst] <= self.closest[0] - self.closest[1]:
            self.closest = float(margins[worst]), float(errors[worst])


def search(
    model: GPT, network: Network, machine: Machine, heads: Sequence[Head], on_progress: OnProgress
) -> tuple[int, Findings]:
    """Return the number of views, and what was found in them; RefusedError if the contexts are too many."""
    views, enumeration, found = find_views(machine, heads), Enumeration(machine), Findings()
    for done, (view, forms) in enumerate(views.items()):
        on_progress(done, len(views))
        _search_view(network, enumeration, heads, attend(model, list(heads), view), view, forms, found)
    on_progress(len(views), len(views))
    return len(views), found


def find_views(machine: Machine, heads: Sequence[Head]) -> dict[View, Forms]:
    """Return every view that some lengths have, each with its forms and the smallest shape of each form."""
    run, window = longest_run(machine), max((head.window for head in heads), default=1)
    views: dict[View, Forms] = defaultdict(dict)
    for shape in all_shapes(machine, run + 2 * window + 5):
        view, slots = look(machine, shape, heads)
        views[view].setdefault(form_of(machine, shape, slots, run), shape)
    return dict(views)


def _search_view(
    network: Network,
    enumeration: Enumeration,
    heads: Sequence[Head],
    attended: Attended,
    view: View,
    forms: Forms,
    found: Findings,
) -> None:
    machine = enumeration.machine
    radii = attended.radii(machine.base)
    order = np.argsort(-radii, kind="stable").tolist()  # the digits that move the state most come first
    wanted = [int((radii >= reach).sum()) for reach in REACHES]
    fitting = max(size for size in range(wanted[-1] + 1) if _fits(machine, forms, order[:size]))
    sizes = sorted({min(size, fitting) for size in wanted})
    undecided: Contexts | None = None
    for number, size in enumerate(sizes):
        chosen, last = order[:size], size == sizes[-1]
        numbers = {slot: rank for rank, slot in enumerate(chosen)}
        contexts = {form: enumeration.contexts(form.renumbered(numbers)) for form in forms}
        every = union(contexts.values())
        if undecided is not None:
            every = every[np.isin(with_slots(every, sizes[number - 1]), undecided)]
        found.contexts += len(every)
        if not len(every):
            return
        part = attended.enumerating(chosen, machine.base)
        margins, errors = network.judge(part, every)
        clear = errors < (1.0 if last else CLEAR) * margins
        found.add(margins[clear], errors[clear], errors[clear])
        undecided = every[~clear]
        if not len(undecided):
            return
        if last:
            wrong, unknown = decide_exactly(network, part, undecided, found)
            failures = [(forms[form], numbers, np.intersect1d(own, wrong)) for form, own in contexts.items()]
            found.failures += [failure for failure in failures if len(failure[2])]
            if unknown and not len(wrong):
                raise RefusedError(
                    unknown if fitting == wanted[-1] else f"{unknown}; {_too_many(view, heads, fitting)}"
                )
            return


def decide_exactly(
    network: Network, attended: Attended, contexts: Contexts, found: Findings
) -> tuple[Contexts, str | None]:
    """Decide contexts in exact arithmetic that float32 leaves open: return the wrong ones, and what remains unknown."""
    margins, errors = network.judge(attended, contexts)
    _, exact = network.judge(attended, contexts, unit=0.0)
    right = margins > exact
    found.add(margins[right], errors[right], exact[right])
    unknown = ~right & (margins > -exact)
    reason = None
    if unknown.any():
        worst = int(np.where(unknown, margins - exact, np.inf).argmin())
        reason = f"a margin of {margins[worst]:.2g} is not above its bound {exact[worst]:.2g}"
    return contexts[~right & ~unknown], reason


def _fits(machine: Machine, forms: Forms, slots: Sequence[int]) -> bool:
    """Whether the contexts are few enough to enumerate these slots."""
    known = set().union(*(form.slots(machine.layout[-1]) for form in forms))
    # a state knows the numbers that do not grow, and the digits of the answer follow from the others and a state
    size = len(reachable_states(machine)) * machine.base ** len(set(slots) - known)
    return size <= LARGEST and len(slots) <= MOST_SLOTS


def _too_many(view: View, heads: Sequence[Head], fitting: int) -> str:
    """Say that not all digits could be enumerated, and name the heads that show digits far from the others."""
    far = [head for head in heads if "=" not in head.anchors and head.anchors - {"b"} and not head.from_start]
    named = "; ".join(
        f"head {head.index} counts from {' and '.join(sorted(head.anchors))} but not from =, so what it sees of the "
        "other numbers is far from the place of the answer token"
        for head in far
    )
    return (
        f"the heads see {view.slots} digits at once, too many to enumerate more than {fitting}{named and ': '}{named}"
    )
