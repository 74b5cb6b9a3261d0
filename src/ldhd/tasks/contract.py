"""What every task must satisfy, and in one line what is wrong with a task that does not.

Each condition is a function that yields a line for everything it finds wrong. Whether the answers are right is not
among them: that takes a second computation, which a task's test has.
"""

import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch

from ldhd.tasks.task import Instance, Task
from ldhd.tasks.tokens import shape_of

Condition = Callable[[Task], Iterator[str]]

SCALES = (1, 2, 3, 7)
FAR = 1000
"""A scale far beyond those that are trained."""
FOREIGN = ("", "b", "12=", "b12")
"""Texts that do not run from `b` to `=`, so that no task has such a prompt."""
MOST_HARD = 40
"""The largest number of hard instances of one scale, all of which are evaluated."""


def generator(seed: int = 0) -> torch.Generator:
    """Return a random stream of its own."""
    return torch.Generator().manual_seed(seed)


def sampled(task: Task, scales: Sequence[int] = SCALES, count: int = 40) -> list[Instance]:
    """Draw `count` instances of each scale."""
    stream = generator()
    return [task.sample(scale, stream) for scale in scales for _ in range(count)]


def problems(task: Task) -> list[str]:
    """Return a line for each condition that a task does not satisfy; an exception of its code is such a line, too."""
    found: list[str] = []
    for condition in CONDITIONS:
        try:
            found += islice(condition(task), 1)
        except Exception as error:  # a user's code may raise anything
            found.append(_raised(error))
    return list(dict.fromkeys(found))


def malformed(instance: Instance) -> str | None:
    """Return what is wrong with the strings of an instance, None if they run from `b` to `=` and from there to `e`."""
    prompt, answer = instance.prompt, instance.answer
    for part, text in (("prompt", prompt), ("answer", answer)):
        if not isinstance(text, str):
            return f"the {part} must be a string, got {text!r}"
    if not prompt.startswith("b") or not prompt.endswith("="):
        return f"the prompt {prompt!r} must begin with 'b' and end with '='"
    if not answer.endswith("e"):
        return f"the answer {answer!r} to {prompt!r} must end with 'e', where a model stops writing"
    if answer.count("e") > 1:
        return f"the answer {answer!r} to {prompt!r} must have one 'e', at its end"
    return None


def strings_run_from_b_to_e(task: Task) -> Iterator[str]:
    for instance in sampled(task):
        wrong = malformed(instance)
        if wrong:
            yield wrong
        else:
            yield from _refusal(task.vocabulary.encode, instance.text)


def scales_are_exact(task: Task) -> Iterator[str]:
    for scale in (1, 2, 5, FAR):
        found = task.sample(scale, generator()).scale
        if found != scale:
            yield f"an instance sampled at scale {scale} has scale {found}"


def equal_seeds_give_equal_instances(task: Task) -> Iterator[str]:
    first, second = (task.sample(6, generator(3)) for _ in range(2))
    if first != second:
        yield f"sampling depends on more than its generator: {first.prompt!r} and {second.prompt!r} have the same seed"


def training_sets_have_their_size_and_scales(task: Task) -> Iterator[str]:
    instances = task.sample_training((2, 4), 60, generator())
    if len(instances) != 60:
        yield f"sample_training returns {len(instances)} instances instead of 60"
    scales = {instance.scale for instance in instances}
    if scales != {2, 4}:
        yield f"sample_training on scales 2 and 4 draws scales {sorted(scales)}"


def prompts_can_be_read_back(task: Task) -> Iterator[str]:
    for instance in sampled(task):
        read = task.read(instance.prompt)
        if read != instance:
            given = f"returns the latent variable {read.latent!r} instead of {instance.latent!r}"
            yield f"read({instance.prompt!r}) {given}"


def foreign_prompts_are_refused(task: Task) -> Iterator[str]:
    for prompt in FOREIGN:
        try:
            task.read(prompt)
        except ValueError as error:
            if not str(error).strip():
                yield f"read({prompt!r}) raises a ValueError that does not say what is wrong"
        except Exception as error:
            yield f"read({prompt!r}) raises {type(error).__name__} instead of a ValueError that says what is wrong"


def needs_point_at_earlier_tokens(task: Task) -> Iterator[str]:
    for instance in sampled(task):
        needs = task.needs(instance)
        if len(needs) != len(instance.answer):
            yield f"{instance.text!r} has {len(instance.answer)} answer tokens, but needs of {len(needs)}"
            continue
        for place, slots in enumerate(needs, len(instance.prompt)):
            for slot, index in slots.items():
                if index is not None and not 0 <= index < place:
                    where = f"{instance.text[place]!r} at index {place} of {instance.text!r}"
                    yield f"{where} needs {slot} at index {index}, which is not before it"


def needs_determine_the_token(task: Task) -> Iterator[str]:
    """Two answer tokens with the same contents in the same slots are the same token."""
    seen: dict[frozenset[tuple[str, str | None]], tuple[str, str]] = {}
    for instance in sampled(task, (1, 2, 3, 4, 5, 6), 300):
        for token, slots in zip(instance.answer, task.needs(instance), strict=False):
            contents = frozenset((slot, None if i is None else instance.text[i]) for slot, i in slots.items())
            before, where = seen.setdefault(contents, (token, instance.text))
            if before != token:
                given = ", ".join(f"{slot} = {'absent' if c is None else c}" for slot, c in sorted(contents, key=str))
                yield (
                    f"the needs do not determine the token: with {given or 'no needs'} it is {before!r} in {where!r} "
                    f"and {token!r} in {instance.text!r}"
                )


def exchangeable_slots_can_be_exchanged(task: Task) -> Iterator[str]:
    """Answer tokens whose contents differ only by an exchange are the same."""
    for group in task.format.exchangeable:
        seen: dict[tuple[object, ...], tuple[str, str]] = {}
        for instance in sampled(task, (1, 2, 3), 2000):
            for token, slots in zip(instance.answer, task.needs(instance), strict=False):
                contents = {slot: None if i is None else instance.text[i] for slot, i in slots.items()}
                together = tuple(sorted(str(contents[slot]) for slot in group if slot in contents))
                rest = tuple(sorted((slot, str(c)) for slot, c in contents.items() if slot not in group))
                before, where = seen.setdefault((together, rest), (token, instance.text))
                if before != token:
                    yield (
                        f"{' and '.join(group)} are not exchangeable: with {', '.join(together)} in them the token is "
                        f"{before!r} in {where!r} and {token!r} in {instance.text!r}"
                    )


def shapes_show_every_shape_and_what_can_differ(task: Task) -> Iterator[str]:
    """Each sampled instance has the types and needs of some; where its token is another, theirs differ too."""
    for scale in (1, 2, 5):
        own = task.for_scales([scale])
        shapes = own.latent.shapes(scale)
        if shapes is None:
            return
        known = defaultdict(list)
        for instance in map(own.instance, shapes):
            if instance.scale != scale:
                yield f"shapes({scale}) lists {instance.text!r} of scale {instance.scale}"
            known[_shape(own, instance)].append(instance.text)
        stream = generator(scale)
        for instance in [own.sample(scale, stream) for _ in range(60)]:
            texts = known[_shape(own, instance)]
            if not texts:
                yield f"shapes({scale}) lists no string of the shape and the needs of {instance.text!r}"
            for place, (token, *column) in enumerate(zip(instance.text, *texts, strict=True)):
                if texts and len(set(column)) == 1 and token not in column:
                    yield (
                        f"shapes({scale}) has {column[0]!r} alone at index {place} of strings like {texts[0]!r}, "
                        f"but it is {token!r} in {instance.text!r}"
                    )


def longest_strings_are_longest(task: Task) -> Iterator[str]:
    for scale in (1, 2, 4):
        longest = task.instance(task.latent.longest(scale))
        if longest.scale != scale:
            yield f"longest({scale}) has scale {longest.scale}"
        for instance in sampled(task, (scale,), 200):
            if len(instance.text) > len(longest.text):
                yield f"longest({scale}) gives {longest.text!r}, but {instance.text!r} is longer"


def hard_instances_are_instances_of_their_scale(task: Task) -> Iterator[str]:
    for scale in (*SCALES, 100):
        own = task.for_scales([scale])
        found = own.hard(scale)
        if len(found) > MOST_HARD:
            yield f"hard({scale}) lists {len(found)} instances, more than {MOST_HARD}"
        for instance in found:
            if instance.scale != scale:
                yield f"hard({scale}) lists {instance.prompt!r} of scale {instance.scale}"
            yield from _refusal(own.read, instance.prompt)
        if [instance.prompt for instance in own.hard(scale)] != [instance.prompt for instance in found]:
            yield f"hard({scale}) is not the same list each time"


CONDITIONS: tuple[Condition, ...] = (
    strings_run_from_b_to_e,
    scales_are_exact,
    equal_seeds_give_equal_instances,
    training_sets_have_their_size_and_scales,
    prompts_can_be_read_back,
    foreign_prompts_are_refused,
    needs_point_at_earlier_tokens,
    needs_determine_the_token,
    exchangeable_slots_can_be_exchanged,
    shapes_show_every_shape_and_what_can_differ,
    longest_strings_are_longest,
    hard_instances_are_instances_of_their_scale,
)


def _shape(task: Task, instance: Instance) -> tuple[str, str]:
    return shape_of(task.vocabulary.as_digits(instance.text)), str(task.needs(instance))


def _refusal(reader: Callable[[str], object], text: str) -> Iterator[str]:
    """Yield the message with which a text is refused, if it is."""
    try:
        reader(text)
    except ValueError as error:
        yield str(error)


def _raised(error: Exception) -> str:
    """Say what code has raised, and on which line of which file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent != Path(__file__).parent]
    place = (own or frames)[-1]
    words = str(error).strip().splitlines()
    return (
        f"{Path(place.filename).name} line {place.lineno}, {place.name}: {type(error).__name__}: {''.join(words[:1])}"
    )
