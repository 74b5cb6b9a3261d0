"""Tasks for EleutherAI's lm-evaluation-harness with the test instances of ldhd."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ldhd.files import write_bytes
from ldhd.tasks import Instance, Vocabulary

READER = '''"""Reads the instances that lie beside this file."""

import json
from pathlib import Path
from typing import Any

import datasets


def instances(scale: int, **rest: Any) -> dict[str, datasets.Dataset]:
    """Those of one scale."""
    lines = (Path(__file__).parent / f"scale_{scale}.jsonl").read_text().splitlines()
    return {"test": datasets.Dataset.from_list([json.loads(line) for line in lines])}
'''


TASK = """task: {name}
custom_dataset: !function ldhd_instances.instances
dataset_kwargs:
  scale: {scale}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: ["{end}"]
  do_sample: false
  max_gen_toks: {longest}
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""
"""The YAML of a task; the harness cuts an answer at `e`, and `longest` leaves no room for more tokens."""

GROUP = """group: {name}
task:
{tasks}
aggregate_metric_list:
  - metric: exact_match
    aggregation: mean
    weight_by_size: true
metadata:
  version: 1.0
"""


def write_tasks(
    folder: Path, task: str, instances: Mapping[int, Sequence[Instance]], vocabulary: Vocabulary
) -> list[str]:
    """Write a task for each scale and a group of all of them; return their names, that of the group first."""
    write_bytes(folder / "ldhd_instances.py", READER.encode())
    group = "ldhd_" + "".join(character if character.isalnum() else "_" for character in task)
    names = [f"{group}_scale_{scale}" for scale in instances]
    for name, (scale, asked) in zip(names, instances.items(), strict=True):
        pairs = [(vocabulary.spell(i.prompt), vocabulary.spell(i.answer.removesuffix("e"))) for i in asked]
        lines = [json.dumps({"prompt": prompt, "answer": answer, "scale": scale}) for prompt, answer in pairs]
        write_bytes(folder / f"scale_{scale}.jsonl", "".join(f"{line}\n" for line in lines).encode())
        longest = max(len(instance.answer) for instance in asked)
        text = TASK.format(name=name, scale=scale, longest=longest, end=vocabulary.word("e"))
        write_bytes(folder / f"{name}.yaml", text.encode())
    listed = "\n".join(f"  - {name}" for name in names)
    write_bytes(folder / f"{group}.yaml", GROUP.format(name=group, tasks=listed).encode())
    return [group, *names]
