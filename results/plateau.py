"""python results/plateau.py: the entropy of the next token of division, in nats, given this and that of the string.

Every string of scales 1 to 5 is counted, each scale as much as the others, as in training. A model that reads no more
than what is listed cannot have a lower loss.
"""

import numpy as np

DIVISORS = np.arange(1, 10)
KNOWN = (
    ("divisor", "here"),
    ("divisor", "here", "written"),
    ("divisor", "here", "written", "first"),
    ("divisor", "here", "written", "first", "later"),
    ("divisor", "here", "previous"),
    ("divisor", "here", "written", "previous"),
)
NAMES = {
    "divisor": "divisor",
    "here": "digit of the dividend at the place to be written",
    "previous": "the one before it",
    "first": "first digit of the dividend",
    "written": "last digit written",
    "later": "whether two or more are written",
}
NONE, END = 10, 10


def main() -> None:
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*NAMES, "token", "weight")}
    for scale in range(1, 6):
        # a number of one digit may be 0
        numbers = np.arange(10 ** (scale - 1) if scale > 1 else 0, 10**scale)
        divisor, number = (grid.ravel() for grid in np.meshgrid(DIVISORS, numbers))
        digits = [number // 10 ** (scale - 1 - place) % 10 for place in range(scale)]
        quotient = [number // divisor // 10 ** (scale - 1 - place) % 10 for place in range(scale)]
        none = np.full_like(number, NONE)
        for place in range(scale + 1):
            seen = {
                "divisor": divisor,
                "here": digits[place] if place < scale else none,
                "previous": digits[place - 1] if place else none,
                "first": digits[0],
                "written": quotient[place - 1] if place else none,
                "later": np.full_like(number, place >= 2),
                "token": quotient[place] if place < scale else np.full_like(number, END),
                "weight": np.full(len(number), 1 / len(number)),
            }
            for name, values in seen.items():
                parts[name].append(values)
    columns = {name: np.concatenate(values) for name, values in parts.items()}
    for names in KNOWN:
        lost = entropy(columns, (*names, "token")) - entropy(columns, names)
        print(f"{lost:.3f}  {', '.join(NAMES[name] for name in names)}")


def entropy(columns: dict[str, np.ndarray], names: tuple[str, ...]) -> float:
    """Of the values of these columns together."""
    code = np.zeros(len(columns["token"]), dtype=np.int64)
    for name in names:
        code = code * 11 + columns[name]
    shares = np.bincount(np.unique(code, return_inverse=True)[1], columns["weight"] / columns["weight"].sum())
    return float(-(shares * np.log(shares)).sum())


if __name__ == "__main__":
    main()
