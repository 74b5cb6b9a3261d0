"""What every task must satisfy; a task's test class inherits these and names the task."""

from collections import defaultdict

import pytest
import torch

from ldhd.predict.shapes import shape_of
from ldhd.tasks import Task
from ldhd.tasks.tokens import decode, encode


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class TaskContract:
    """Subclasses set `task` and `expected(prompt)`, an independent computation of the answer."""

    task: Task

    def expected(self, prompt: str) -> str:
        raise AssertionError("a task's test says what the answer to a prompt is")

    def instances(self, scales=(1, 2, 3, 7), count=40):
        stream = generator()
        return [self.task.sample(scale, stream) for scale in scales for _ in range(count)]

    def test_answers_are_right(self):
        for instance in self.instances():
            assert instance.answer == self.expected(instance.prompt), instance

    def test_scale_is_exact_at_any_size(self):
        for scale in (1, 2, 5, 1000):
            instance = self.task.sample(scale, generator())
            assert instance.scale == scale
            assert instance.answer == self.expected(instance.prompt)

    def test_strings_are_tokens_between_b_and_e(self):
        for instance in self.instances():
            assert instance.prompt.startswith("b")
            assert instance.prompt.endswith("=")
            assert instance.answer.endswith("e")
            assert instance.answer.count("e") == 1
            assert decode(encode(instance.text)) == instance.text

    def test_prompt_can_be_read_back(self):
        for instance in self.instances():
            assert self.task.read(instance.prompt) == instance

    @pytest.mark.parametrize("prompt", ["", "b", "b=", "12=", "b12", "bx=", "b1+=", "b+1=", "b1+2+3=", "b1=2="])
    def test_foreign_prompts_are_refused(self, prompt):
        with pytest.raises(ValueError, match=r"\w"):
            self.task.read(prompt)

    def test_same_seed_same_instance(self):
        assert self.task.sample(6, generator(3)) == self.task.sample(6, generator(3))

    @pytest.mark.parametrize("scale", [0, -1])
    def test_scales_start_at_one(self, scale):
        with pytest.raises(ValueError, match="from 1 up"):
            self.task.sample(scale, generator())

    def test_training_set_has_its_size_and_scales(self):
        instances = self.task.sample_training((2, 4), 60, generator())
        assert len(instances) == 60
        assert {instance.scale for instance in instances} == {2, 4}

    def test_needs_point_at_earlier_tokens(self):
        for instance in self.instances():
            needs = self.task.needs(instance)
            assert len(needs) == len(instance.answer)
            for k, slots in enumerate(needs):
                for index in slots.values():
                    assert index is None or 0 <= index < len(instance.prompt) + k

    def test_shapes_show_every_shape_and_what_can_differ(self):
        """Each sampled instance has the types and needs of some; where its token is another, theirs differ too."""
        for scale in (1, 2, 5):
            task = self.task.for_scales([scale])
            known = defaultdict(list)
            for latent in task.latent.shapes(scale):
                instance = task.instance(latent)
                assert instance.scale == scale
                known[shape_of(instance.text), str(task.needs(instance))].append(instance.text)
            stream = generator(scale)
            for instance in [task.sample(scale, stream) for _ in range(60)]:
                texts = known[shape_of(instance.text), str(task.needs(instance))]
                assert texts
                for token, *column in zip(instance.text, *texts, strict=True):
                    assert len(set(column)) > 1 or token in column

    @pytest.mark.parametrize("scale", [1, 2, 3, 7, 100])
    def test_hard_instances_have_exactly_their_scale(self, scale):
        found = self.task.for_scales([scale]).hard(scale)
        prompts = [instance.prompt for instance in found]
        assert 2 <= len(found) <= 40
        assert len(set(prompts)) == len(prompts)
        for instance in found:
            assert instance.scale == scale
            assert instance.answer == self.expected(instance.prompt)
            assert self.task.for_scales([scale]).read(instance.prompt) == instance
        assert prompts == [instance.prompt for instance in self.task.for_scales([scale]).hard(scale)]

    def test_exchangeable_slots_can_be_exchanged(self):
        """Answer tokens whose contents differ only by an exchange are the same."""
        for group in self.task.format.exchangeable:
            seen: dict[tuple, str] = {}
            for instance in self.instances(scales=(1, 2, 3), count=2000):
                for token, slots in zip(instance.answer, self.task.needs(instance), strict=True):
                    contents = {slot: None if i is None else instance.text[i] for slot, i in slots.items()}
                    together = tuple(sorted(str(contents[slot]) for slot in group if slot in contents))
                    rest = tuple(sorted((slot, str(c)) for slot, c in contents.items() if slot not in group))
                    assert seen.setdefault((together, rest), token) == token

    def test_needs_determine_the_token(self):
        """Two answer tokens with the same contents in the same slots are the same token."""
        seen: dict[frozenset, tuple[str, str]] = {}
        for instance in self.instances(scales=(1, 2, 3, 4, 5, 6), count=300):
            for token, slots in zip(instance.answer, self.task.needs(instance), strict=True):
                contents = frozenset((slot, i if i is None else instance.text[i]) for slot, i in slots.items())
                before, where = seen.setdefault(contents, (token, instance.text))
                assert before == token, f"{sorted(map(str, contents))}: {before} in {where}, {token} in {instance.text}"
