"""Records of the same task and embedding, over their seeds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from ldhd.experiments import Record
from ldhd.experiments.verdict import measured_verdict


@dataclass(frozen=True)
class Cell:
    """One embedding on one task: all its seeds, failures included."""

    task: str
    position: str
    model: str
    records: tuple[Record, ...]

    @property
    def scales(self) -> list[int]:
        return [result.scale for result in self.records[0].results]

    @property
    def train_scales(self) -> list[int]:
        return self.records[0].train_scales

    @property
    def fitted(self) -> int:
        return sum(record.fitted for record in self.records)

    def exact(self, scale: int) -> list[float]:
        """Exact match of every seed at a scale."""
        return [value for record in self.records if (value := record.exact(scale)) is not None]

    def mean(self, scale: int) -> float:
        return mean(self.exact(scale))

    def verdict(self) -> str:
        """`generalises`, `fails`, `mixed`, `not fitted`, or `too few seeds`."""
        return measured_verdict(self.records)


def cells(records: Iterable[Record]) -> list[Cell]:
    """Records grouped by task, embedding and model, in the order they come."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.task, record.position, record.model), []).append(record)
    return [Cell(*key, tuple(group)) for key, group in groups.items()]


def per_position(cell: Cell, scale: int) -> Sequence[float]:
    """Accuracy of each answer token at a scale, averaged over seeds."""
    rows = [result.per_position for record in cell.records for result in record.results if result.scale == scale]
    longest = max(map(len, rows), default=0)
    return [mean(row[place] for row in rows if place < len(row)) for place in range(longest)]
