"""The model card of an exported run: its training, its results, and how to use it."""

from collections.abc import Sequence
from pathlib import Path

import ldhd
from ldhd.certify import Certificate
from ldhd.evaluate import ScaleResult
from ldhd.experiments import RunConfig
from ldhd.files import write_bytes
from ldhd.report.figures.accuracy import run_figure
from ldhd.report.look import position_title
from ldhd.report.render_matplotlib import save_figure
from ldhd.tasks import Instance, Task

FIGURE = "accuracy.png"

TEMPLATE = """---
library_name: transformers
license: mit
pipeline_tag: text-generation
tags: [length-generalization, ldhd, {task}, {position}]
---

# {task} with {position}

A Transformer of {layers} layer{s} and {parameters} parameters with the position embedding `{position}`, trained by
`ldhd`, a laboratory for length generalization, on the task `{task}` at scales {train_scales} (seed {seed}).

{about}

| prompt | answer |
|---|---|
| `{prompt}` | `{answer}` |

One {unit} is one token. An answer ends in `{end}`, the tokenizer's end of text.

## Accuracy by scale

Share of answers right as a whole, by greedy decoding; 95 % Wilson intervals. Training scales are in bold.

![Exact match against scale]({figure})

| scale | instances | exact match in % | 95 % interval | right tokens in % |
|---|---|---|---|---|
{rows}
{certificate}
## Use

```python
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(FOLDER, trust_remote_code=True)
model = AutoModelForCausalLM.from_pretrained(FOLDER, trust_remote_code=True)
inputs = tokenizer(["{prompt}"], return_tensors="pt", padding=True)
written = model.generate(**inputs, max_new_tokens={new_tokens})
print(tokenizer.batch_decode(written, skip_special_tokens=True))
```

The folder carries its own code, which needs torch and transformers 5 only, and `trust_remote_code=True` runs it: look
at it first if you do not know who passed the folder on. As written by `ldhd export` it imports nothing that
`config.json` names. Where `ldhd[hf]` is installed, `import ldhd.hf` does instead of `trust_remote_code=True`.

## Licence and citation

The code in this folder is that of ldhd {version}, copyright (c) 2026 the ldhd authors, under the MIT licence. The
weights are under the licence that is named at the top, which you may change for a model of your own. The method is
that of

```bibtex
{citation}
```
"""

CITATION = """@inproceedings{chen2025ldhd,
  title = {Low-Dimension-to-High-Dimension Generalization And Its Implications for Length Generalization},
  author = {Chen, Yang and Yang, Long and Liang, Yitao and Lin, Zhouchen},
  booktitle = {International Conference on Machine Learning},
  year = {2025},
  eprint = {2410.08898},
  archiveprefix = {arXiv},
}"""
"""The paper in BibTeX, as in the documentation."""


def write_card(
    folder: Path,
    config: RunConfig,
    task: Task,
    example: Instance,
    parameters: int,
    results: Sequence[ScaleResult],
    certificate: Certificate | None,
) -> None:
    """Write README.md with its figure."""
    layers = config.model_options.layers
    rows = []
    for result in results:
        scale = f"**{result.scale}**" if result.scale in config.train_scales else str(result.scale)
        exact, low, high, per_token = (100 * x for x in (result.exact, result.low, result.high, result.per_token))
        rows.append(f"| {scale} | {result.n} | {exact:.1f} | {low:.1f}-{high:.1f} | {per_token:.1f} |")
    text = TEMPLATE.format(
        task=config.task,
        position=config.position,
        layers=layers,
        s="" if layers == 1 else "s",
        parameters=f"{parameters:,}",
        train_scales=", ".join(map(str, config.train_scales)),
        seed=config.seed,
        about=" ".join((task.format.__doc__ or "").split(">>>")[0].split()),
        prompt=task.vocabulary.spell(example.prompt),
        answer=task.vocabulary.spell(example.answer),
        unit="word" if task.vocabulary.words else "character",
        end=task.vocabulary.word("e"),
        new_tokens=len(example.answer),
        figure=FIGURE,
        version=ldhd.__version__,
        citation=CITATION,
        rows="\n".join(rows),
        certificate=f"\n`ldhd certify` says: {certificate.sentence()}.\n" if certificate else "",
    )
    write_bytes(folder / "README.md", text.encode())
    title = f"{config.task}, {position_title(config.position)}"
    save_figure(run_figure(results, config.train_scales, config.position, title), folder / FIGURE)
