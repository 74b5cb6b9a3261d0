"""The result of `ldhd show`: what a model wrote for one instance, where it went wrong, what it attended to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from torch import Tensor

from ldhd.evaluate import Trace, trace
from ldhd.experiments import load_run
from ldhd.report.terminal import numeric, plain_table
from ldhd.tasks import Task


def trace_run(folder: Path, prompt: str, device: str = "cpu") -> "TracedInstance":
    """Let the model of a finished run answer a prompt."""
    _, task, model = load_run(folder, device)
    return TracedInstance(task, trace(model, task.read(prompt)))


@dataclass(frozen=True)
class TracedInstance:
    """One instance of a task, answered by a model."""

    task: Task
    trace: Trace

    def document(self) -> dict[str, Any]:
        instance, needs = self.trace.instance, self.task.needs(self.trace.instance)
        return {
            "prompt": instance.prompt,
            "answer": instance.answer,
            "output": self.trace.output,
            "correct": self.trace.first_error is None,
            "first_error": self.trace.first_error,
            "needs": needs,
            "attention_on_needs": self.trace.slots(needs),
            "anchors": [[_strongest(row) for row in layer] for layer in self.trace.anchors.values()],
        }

    def view(self) -> Iterator[RenderableType]:
        """Yield the output beside the answer, the attention on each needed slot, and the anchors of each head."""
        yield self._output()
        yield "\nattention on what each answer token needs, token@index (the strongest head):"
        yield self._attention()
        if self.trace.anchors:
            yield "anchors, the token each position measures its distance from (~ where its weight is below 0.9):"
            yield self._anchors()

    def _output(self) -> Text:
        instance, output, error = self.trace.instance, self.trace.output, self.trace.first_error
        text = Text(f"prompt  {instance.prompt}\nanswer  {instance.answer}\noutput  ")
        if error is None:
            return text.append(output, style="green").append("   correct")
        text.append(output[:error], style="green").append(output[error:], style="bold red")
        written = output[error : error + 1] or "nothing"
        return text.append(f"   first error at token {error}: {written} instead of {instance.answer[error]}")

    def _attention(self) -> Table:
        needs = self.task.needs(self.trace.instance)
        slots = list(dict.fromkeys(slot for needed in needs for slot in needed))
        rows = [
            (token, *(self._mass(needed[slot], mass.get(slot)) if slot in needed else "" for slot in slots))
            for token, needed, mass in zip(self.trace.instance.answer, needs, self.trace.slots(needs), strict=True)
        ]
        return plain_table(None, ["token", *numeric(*slots)], rows)

    def _mass(self, index: int | None, mass: float | None) -> str:
        """Return the attention on a needed token, such as `7@2 0.98`."""
        return "absent" if index is None or mass is None else f"{self.trace.instance.text[index]}@{index} {mass:.2f}"

    def _anchors(self) -> Table:
        anchors, text = self.trace.anchors, self.trace.instance.text[:-1]
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
    values, indices = weights.max(dim=-1)
    return [
        {"index": int(index), "weight": round(float(value), 4)} for value, index in zip(values, indices, strict=True)
    ]
