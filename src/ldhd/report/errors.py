"""Where answers go wrong: by scale and place in the answer, and by the carry that comes in."""

from ldhd.report.summary import Cell, per_position

Map = list[list[float | None]]


def error_map(cell: Cell) -> tuple[list[int], Map]:
    """The scales, and for each the share of wrong tokens at each place of the answer, averaged over seeds."""
    rows = [per_position(cell, scale) for scale in cell.scales]
    longest = max(map(len, rows))
    return cell.scales, [[1 - value for value in row] + [None] * (longest - len(row)) for row in rows]


def carry_map(cell: Cell) -> tuple[list[int], Map, list[list[int]]] | None:
    """Lengths of carry chains; for each, the share of wrong tokens at each place, and of how many.

    Counted over all seeds and all test scales beyond training; None if no result has carries.
    """
    right: dict[tuple[int, int], int] = {}
    asked: dict[tuple[int, int], int] = {}
    for record in cell.records:
        for result in record.results:
            if result.scale > max(record.train_scales):
                for token, length, good, n in result.carries or []:
                    right[length, token] = right.get((length, token), 0) + good
                    asked[length, token] = asked.get((length, token), 0) + n
    asked = {key: n for key, n in asked.items() if n > 0}
    if not asked:
        return None
    lengths = sorted({length for length, _ in asked})
    tokens = range(max(token for _, token in asked) + 1)
    values: Map = [
        [1 - right[length, token] / asked[length, token] if (length, token) in asked else None for token in tokens]
        for length in lengths
    ]
    return lengths, values, [[asked.get((length, token), 0) for token in tokens] for length in lengths]
