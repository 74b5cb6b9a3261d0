"""One instance in words: what the model wrote, where it went wrong, what it looked at."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from torch import Tensor

from ldhd.evaluate import Trace
from ldhd.report.terminal import plain_table
from ldhd.tasks import Task


def trace_json(trace: Trace, task: Task) -> dict[str, Any]:
    """Everything `ldhd show` prints."""
    needs = task.needs(trace.instance)
    return {
        "prompt": trace.instance.prompt,
        "answer": trace.instance.answer,
        "output": trace.output,
        "correct": trace.first_error is None,
        "first_error": trace.first_error,
        "needs": needs,
        "attention_on_needs": trace.slots(needs),
        "anchors": [[_strongest(row) for row in layer] for layer in trace.anchors.values()],
    }


def trace_view(trace: Trace, task: Task) -> RenderableType:
    """The output beside the answer, the attention on each needed slot, and each head's anchors."""
    heading = "\nattention on what each answer token needs, token@index (the strongest head):"
    parts: list[RenderableType] = [_output(trace), Text(heading), _attention(trace, task)]
    if trace.anchors:
        heading = "anchors, the token each position measures its distance from (~ where its weight is below 0.9):"
        parts += [Text(heading), _anchors(trace)]
    return Group(*parts)


def _output(trace: Trace) -> Text:
    error = trace.first_error
    text = Text(f"prompt  {trace.instance.prompt}\nanswer  {trace.instance.answer}\noutput  ")
    if error is None:
        return text.append(trace.output, style="green").append("   correct")
    text.append(trace.output[:error], style="green").append(trace.output[error:], style="bold red")
    written = trace.output[error : error + 1] or "nothing"
    return text.append(f"   first error at token {error}: {written} instead of {trace.instance.answer[error]}")


def _attention(trace: Trace, task: Task) -> Table:
    table = plain_table()
    table.add_column("token")
    needs = task.needs(trace.instance)
    slots = list(dict.fromkeys(slot for needed in needs for slot in needed))
    for slot in slots:
        table.add_column(slot, justify="right")
    for token, needed, mass in zip(trace.instance.answer, needs, trace.slots(needs), strict=True):
        table.add_row(token, *(_mass(trace, needed.get(slot), mass.get(slot), slot in needed) for slot in slots))
    return table


def _mass(trace: Trace, index: int | None, mass: float | None, needed: bool) -> str:
    if index is None or mass is None:
        return "absent" if needed else ""
    return f"{trace.instance.text[index]}@{index} {mass:.2f}"


def _anchors(trace: Trace) -> Table:
    table = plain_table()
    text = trace.instance.text[:-1]
    table.add_column("layer" if all(len(heads) == 1 for heads in trace.anchors.values()) else "head")
    for index, token in enumerate(text):
        table.add_column(f"{token}\n{index}", justify="right")
    several = len({term for _, term in trace.anchors}) > 1
    for (index, term), heads in trace.anchors.items():
        layer = f"{index}" + ("abcdefgh"[term] if several else "")
        for head, row in enumerate(_strongest(weights) for weights in heads):
            cells = [text[a["index"]] if a["weight"] >= 0.9 else f"[dim]~{text[a['index']]}[/dim]" for a in row]
            table.add_row(layer if len(heads) == 1 else f"{layer}.{head}", *cells)
    return table


def _strongest(weights: Tensor) -> list[dict[str, Any]]:
    """For each position, the index it is anchored at most and with which weight."""
    values, indices = weights.max(dim=-1)
    return [
        {"index": int(index), "weight": round(float(value), 4)} for value, index in zip(values, indices, strict=True)
    ]
