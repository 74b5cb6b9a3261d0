"""Comparisons on real strings: the machine with its task, and the network with what was derived about it."""

import numpy as np
import torch

from ldhd import seeds
from ldhd.certify.heads import Head, RefusedError
from ldhd.certify.machines import Machine, answer_of, numbers_of
from ldhd.certify.network import Attended, Network, attend
from ldhd.certify.shapes import Shape, View, look
from ldhd.model import GPT
from ldhd.tasks import Instance, Task
from ldhd.tasks.tokens import encode

CHECKED_SCALES = (1, 2, 3, 5, 8, 13, 40, 150)
CHECKED = 8
"""Instances of each of these scales that are compared."""

LARGEST_DIFFERENCE = 0.05
"""Of logits; a larger one means that something else counts than what was derived."""


def check_machine(machine: Machine, task: Task) -> None:
    """Refuse a machine that does not write the answers of a task."""
    for instance in _samples(task):
        if answer_of(machine, instance.prompt) != instance.answer:
            raise RefusedError(f"the machine of {task.name} does not write the answer to {instance.prompt}")


@torch.inference_mode()
def check_network(model: GPT, network: Network, task: Task, machine: Machine, heads: list[Head]) -> float:
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
    if largest > LARGEST_DIFFERENCE:
        raise RefusedError(
            f"its logits differ by up to {largest:.2g} from those of what its heads should see: something else counts"
        )
    return largest


def _samples(task: Task) -> list[Instance]:
    found = []
    for scale in CHECKED_SCALES:
        stream = seeds.generator(0, "certify", task.name, scale)
        found += [task.sample(scale, stream) for _ in range(CHECKED)]
    return found


def _read(machine: Machine, heads: list[Head], instance: Instance, t: int) -> tuple[View, list[int]]:
    """Return the view before answer token t of an instance, and the digits in its slots."""
    numbers = numbers_of(machine, instance.prompt) | {machine.layout[-1]: instance.answer[:t]}
    shape = Shape(tuple(len(numbers[letter]) for letter in machine.growing), t)
    view, slots = look(machine, shape, heads)
    digits = [0] * view.slots
    for (letter, place), slot in slots.items():
        digits[slot] = int(numbers[letter][place])
    return view, digits
