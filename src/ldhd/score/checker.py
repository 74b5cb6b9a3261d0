"""The right answer to a prompt by Python's integers and strings, which shares no code with the tasks."""

from collections.abc import Callable


def _copied(text: str) -> str:
    return text


def _parities(text: str) -> str:
    return "".join(str(text[: k + 1].count("1") % 2) for k in range(len(text)))


def _sum(text: str) -> str:
    x, y = text.split("+")
    return str(_value(x) + _value(y))[::-1]


def _aligned_sum(text: str) -> str:
    x, y = text.split("+")
    return str(_value(x) + _value(y))[::-1].ljust(len(x) + 1, "0")


def _product(text: str) -> str:
    x, y = text.split("*")
    return str(int(x) * _value(y))[::-1].ljust(len(y) + 1, "0")


def _quotient(text: str) -> str:
    x, y = text.split("\\")
    return str(_decimal(y) // int(x)).rjust(len(y), "0")


def _last_digit(text: str) -> str:
    x, y = text.split("+")
    return str((_value(x) + _value(y)) % 10)


def _reversed(text: str) -> str:
    return "".join(reversed(text))


def _next(text: str) -> str:
    return str(_value(text) + 1)[::-1]


def _digit_differences(text: str) -> str:
    x, y = text.split("\\")
    return "".join(str((int(x[k]) - int(y[k])) % 10) for k in range(len(x)))


def _difference(text: str) -> str:
    x, y = text.split("\\")
    return str(_value(x) - _value(y))[::-1].ljust(len(x), "0")


def _interleaved(text: str) -> str:
    middle = text.index("+")
    return "".join(text[k] + text[middle + 1 + k] for k in range(middle))


def _larger(text: str) -> str:
    x, y = text.split("+")
    return str(max(_decimal(x), _decimal(y))).rjust(len(x), "0")


def _sum_of_all(text: str) -> str:
    return str(sum(_value(number) for number in text.split("+")))[::-1]


def _forward_sum(text: str) -> str:
    x, y = text.split("+")
    return str(_decimal(x) + _decimal(y)).rjust(max(len(x), len(y)) + 1, "0")


def _largest_digit(text: str) -> str:
    return next(digit for digit in "9876543210" if digit in text)


def _running_sums(text: str) -> str:
    return "".join(str(sum(map(int, text[: k + 1])))[-1] for k in range(len(text)))


def _forward_sum_twice(text: str) -> str:
    forward = _forward_sum(text)
    return f"{''.join(reversed(forward))}\\{forward}"


def _sorted_prefixes(text: str) -> str:
    return "*".join("".join(sorted(text[: k + 1])) for k in range(len(text)))


def _two_products(text: str) -> str:
    x, y = text.split("*")
    low, high, whole = int(x[0]) * _value(y), int(x[1]) * _value(y), _value(x) * _value(y)
    written = [str(number)[::-1] for number in (low, high, whole)]
    size = len(y) + 1
    return f"{written[0].ljust(size, '0')}+{written[1].ljust(size, '0')}\\{written[2].ljust(size + 1, '0')}"


def _long_product(text: str) -> str:
    x, y = text.split("*")
    rows = []
    for k in range(len(x)):  # what the digits up to the k-th give, without the places that are finished
        rows.append(str(_value(x[: k + 1]) * _value(y) // 10**k)[::-1].ljust(len(y) + 1, "0"))
    return f"{'+'.join(rows)}\\{str(_value(x) * _value(y))[::-1].ljust(len(x) + len(y), '0')}"


def _open_brackets(text: str) -> str:
    states = []
    for k in range(len(text)):
        depths = [text[: j + 1].count("(") - text[: j + 1].count(")") for j in range(k + 1)]
        states.append(str(depths[-1]) if min(depths) >= 0 and max(depths) <= 9 else "X")
    return "".join(states) + ("Y" if states[-1] == "0" else "N")


def _recalled(text: str) -> str:
    pairs, queries = text.split("+")
    return "".join(pairs[1 + next(k for k in range(0, len(pairs), 2) if pairs[k] == query)] for query in queries)


def _value(reversed_digits: str) -> int:
    return _decimal(reversed_digits[::-1])


def _decimal(digits: str) -> int:
    return int(digits)


ANSWERS: dict[str, Callable[[str], str]] = {
    "copy": _copied,
    "addition": _sum,
    "addition-aligned": _aligned_sum,
    "parity": _parities,
    "parity-direct": lambda text: str(text.count("1") % 2),
    "multiplication": _product,
    "division": _quotient,
    "addition-mod10": _last_digit,
    "reversal": _reversed,
    "successor": _next,
    "difference": _digit_differences,
    "subtraction": _difference,
    "interleaving": _interleaved,
    "larger": _larger,
    "addends": _sum_of_all,
    "addition-forward": _forward_sum,
    "copy-separator": _copied,
    "maximum": _largest_digit,
    "modular-sum": _running_sums,
    "copy-twice": lambda text: f"{text}*{text}",
    "addition-scratchpad": _forward_sum_twice,
    "sorting": _sorted_prefixes,
    "two-digit-multiplication": _two_products,
    "long-multiplication": _long_product,
    "brackets": _open_brackets,
    "recall": _recalled,
}


def right_answer(task: str, prompt: str) -> str:
    """Return the right answer to a prompt of a built-in task, `e` included."""
    return ANSWERS[task](prompt.removeprefix("b").removesuffix("=")) + "e"
