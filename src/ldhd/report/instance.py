"""The result of `ldhd show`: what a model wrote for one instance, where it went wrong, what it attended to."""

from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from torch import Tensor

from ldhd.evaluate import Trace, trace
from ldhd.experiments import load_run
from ldhd.report.terminal import Output, numeric, plain_table
from ldhd.tasks import Needs


def trace_run(folder: Path, prompt: str, device: str = "cpu") -> Output:
    """Let the model of a finished run answer a prompt.

    Shown are the output beside the answer, the attention on each needed slot, and the anchors of each head.
    """
    _, task, model = load_run(folder, device)
    found = trace(model, task.read(prompt))
    needs = task.needs(found.instance)
    document = {
        "prompt": found.instance.prompt,
        "answer": found.instance.answer,
        "output": found.output,
        "correct": found.first_error is None,
        "first_error": found.first_error,
        "needs": needs,
        "attention_on_needs": found.slots(needs),
        "anchors": [[_strongest(row) for row in layer] for layer in found.anchors.values()],
    }
    attention = "\nattention on what each answer token needs, token@index (the strongest head):"
    view: list[RenderableType] = [_output(found), attention, _attention(found, needs)]
    if found.anchors:
        view.append("anchors, the token each position measures its distance from (~ where its weight is below 0.9):")
        view.append(_anchors(found))
    return document, view


def _output(found: Trace) -> Text:
    instance, output, error = found.instance, found.output, found.first_error
    text = Text(f"prompt  {instance.prompt}\nanswer  {instance.answer}\noutput  ")
    if error is None:
        return text.append(output, style="green").append("   correct")
    text.append(output[:error], style="green").append(output[error:], style="bold red")
    written = output[error : error + 1] or "nothing"
    return text.append(f"   first error at token {error}: {written} instead of {instance.answer[error]}")


def _attention(found: Trace, needs: Needs) -> Table:
    slots = list(dict.fromkeys(slot for needed in needs for slot in needed))
    rows = []
    for token, needed, weights in zip(found.instance.answer, needs, found.slots(needs), strict=True):
        cells = dict.fromkeys(slots, "")
        for slot, index in needed.items():  # such as `7@2 0.98`
            cells[slot] = "absent" if index is None else f"{found.instance.text[index]}@{index} {weights[slot]:.2f}"
        rows.append((token, *cells.values()))
    return plain_table(None, ["token", *numeric(*slots)], rows)


def _anchors(found: Trace) -> Table:
    anchors, text = found.anchors, found.instance.text[:-1]
    first = "layer" if all(len(heads) == 1 for heads in anchors.values()) else "head"
    rows = []
    several = len({term for _, term in anchors}) > 1
    for (index, term), heads in anchors.items():
        layer = f"{index}" + ("abcdefgh"[term] if several else "")
        for head, row in enumerate(_strongest(weights) for weights in heads):
            cells = [text[a["index"]] if a["weight"] >= 0.9 else f"[dim]~{text[a['index']]}[/dim]" for a in row]
            rows.append((layer if len(heads) == 1 else f"{layer}.{head}", *cells))
    return plain_table(None, [first, *numeric(*(f"{token}\n{index}" for index, token in enumerate(text)))], rows)


def _strongest(weights: Tensor) -> list[dict[str, Any]]:
    """Return for each position the index with the largest anchor weight, and that weight."""
    largest = zip(*weights.max(dim=-1), strict=True)
    return [{"index": int(index), "weight": round(float(value), 4)} for value, index in largest]
