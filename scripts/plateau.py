"""python scripts/plateau.py: the entropy of the next token of division and of multiplication, in nats, given this and
that of the string.

Every string of scales 1 to 5 is counted, each scale as much as the others, as in training. A model that reads no more
than what is listed cannot have a lower loss.
"""

import numpy as np

ONE_DIGIT = np.arange(1, 10)
KNOWN = (
    ("one digit", "here"),
    ("one digit", "here", "first"),
    ("one digit", "here", "written"),
    ("one digit", "here", "written", "first"),
    ("one digit", "here", "written", "first", "later"),
    ("one digit", "here", "previous"),
    ("one digit", "here", "written", "previous"),
)
NAMES = {
    "one digit": "one-digit operand",
    "here": "digit of the other operand at the place to be written",
    "previous": "the one before it",
    "first": "first digit of that operand",
    "written": "last digit written",
    "later": "whether two or more are written",
}
NONE, END = 10, 10


def main() -> None:
    for task in ("division", "multiplication"):
        columns = strings(task)
        print(task)
        for names in KNOWN:
            lost = entropy(columns, (*names, "token")) - entropy(columns, names)
            print(f"  {lost:.3f}  {', '.join(NAMES[name] for name in names)}")


def strings(task: str) -> dict[str, np.ndarray]:
    """A row for each token of each answer."""
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*NAMES, "token", "weight")}
    for scale in range(1, 6):
        # a number of one digit may be 0
        numbers = np.arange(10 ** (scale - 1) if scale > 1 else 0, 10**scale)
        one_digit, number = (grid.ravel() for grid in np.meshgrid(ONE_DIGIT, numbers))
        if task == "division":  # most significant digit first
            powers = [10 ** (scale - 1 - place) for place in range(scale)]
            answer = [number // one_digit // power % 10 for power in powers]
        else:
            powers = [10**place for place in range(scale)]
            answer = [number * one_digit // power % 10 for power in (*powers, 10**scale)]
        digits = [number // power % 10 for power in powers]
        none = np.full_like(number, NONE)
        for place in range(len(answer) + 1):
            seen = {
                "one digit": one_digit,
                "here": digits[place] if place < scale else none,
                "previous": digits[place - 1] if 0 < place <= scale else none,
                "first": digits[0],
                "written": answer[place - 1] if place else none,
                "later": np.full_like(number, place >= 2),
                "token": answer[place] if place < len(answer) else np.full_like(number, END),
                "weight": np.full(len(number), 1 / len(number)),
            }
            for name, values in seen.items():
                parts[name].append(values)
    return {name: np.concatenate(values) for name, values in parts.items()}


def entropy(columns: dict[str, np.ndarray], names: tuple[str, ...]) -> float:
    """Of the values of these columns together."""
    code = np.zeros(len(columns["token"]), dtype=np.int64)
    for name in names:
        code = code * 11 + columns[name]
    shares = np.bincount(np.unique(code, return_inverse=True)[1], columns["weight"] / columns["weight"].sum())
    return float(-(shares * np.log(shares)).sum())


if __name__ == "__main__":
    main()
