"""The model card of an exported run: its training, its results, and how to use it."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from ldhd.evaluate import ScaleResult
from ldhd.experiments import RunConfig
from ldhd.files import write_bytes
from ldhd.tasks import Instance, Task

FIGURE = "accuracy.png"

TEMPLATE = """---
library_name: transformers
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

One character is one token. An answer ends in `e`, the tokenizer's end of text.

## Accuracy by scale

Share of answers right as a whole, by greedy decoding; 95 % Wilson intervals. Training scales are in bold.

![Exact match against scale]({figure})

| scale | instances | exact match in % | 95 % interval | right tokens in % |
|---|---|---|---|---|
{rows}

## Use

```python
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(FOLDER, trust_remote_code=True)
model = AutoModelForCausalLM.from_pretrained(FOLDER, trust_remote_code=True)
inputs = tokenizer(["{prompt}"], return_tensors="pt", padding=True)
written = model.generate(**inputs, max_new_tokens={new_tokens})
print(tokenizer.batch_decode(written, skip_special_tokens=True))
```

The folder carries its own code, which needs torch and transformers 5 only. Where `ldhd[hf]` is installed,
`import ldhd.hf` does instead of `trust_remote_code=True`.
"""


def write_card(
    folder: Path, config: RunConfig, task: Task, example: Instance, parameters: int, results: Sequence[ScaleResult]
) -> None:
    """Write README.md with its figure."""
    layers = config.model_options.layers
    text = TEMPLATE.format(
        task=config.task,
        position=config.position,
        layers=layers,
        s="" if layers == 1 else "s",
        parameters=f"{parameters:,}",
        train_scales=", ".join(map(str, config.train_scales)),
        seed=config.seed,
        about=" ".join((task.format.__doc__ or "").split(">>>")[0].split()),
        prompt=example.prompt,
        answer=example.answer,
        new_tokens=len(example.answer),
        figure=FIGURE,
        rows="\n".join(_row(result, result.scale in config.train_scales) for result in results),
    )
    write_bytes(folder / "README.md", text.encode())
    write_bytes(folder / FIGURE, _figure(config, results))


def _row(result: ScaleResult, trained: bool) -> str:
    scale = f"**{result.scale}**" if trained else str(result.scale)
    interval = f"{100 * result.low:.1f}-{100 * result.high:.1f}"
    return f"| {scale} | {result.n} | {100 * result.exact:.1f} | {interval} | {100 * result.per_token:.1f} |"


def _figure(config: RunConfig, results: Sequence[ScaleResult]) -> bytes:
    """Exact match with its interval at each scale, the training range shaded."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    scales, exact = [result.scale for result in results], [result.exact for result in results]
    spread = [[r.exact - r.low for r in results], [r.high - r.exact for r in results]]
    axes.axvspan(min(config.train_scales) - 0.5, max(config.train_scales) + 0.5, color="0.92", lw=0)
    axes.errorbar(scales, exact, yerr=[[max(0.0, x) for x in side] for side in spread], marker="o", capsize=2)
    axes.set_xlabel("scale of the instance (training scales shaded)")
    axes.set_ylabel("exact match")
    axes.set_ylim(-0.05, 1.07)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(f"{config.task}, {config.position}", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    content = BytesIO()
    figure.savefig(content, format="png", dpi=160)
    return content.getvalue()
