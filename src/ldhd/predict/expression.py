"""The arithmetic of descriptions: whole numbers, names, + - * and max, min; nothing else is evaluated."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
FUNCTIONS: dict[str, Callable[..., int]] = {"max": max, "min": min}


@dataclass(frozen=True)
class Expression:
    """An expression such as `n-1-t`, in which only these names occur; a ValueError is raised for anything else."""

    text: str
    names: Collection[str] = field(compare=False)

    def __post_init__(self) -> None:
        self.value(dict.fromkeys(self.names, 1))

    def value(self, values: Mapping[str, int]) -> int:
        """Return the value of the expression, given the value of each name."""
        try:
            tree = ast.parse(self.text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError):
            raise ValueError(f"{self.text!r} is no expression") from None
        return self._evaluate(tree.body, values)

    def _evaluate(self, node: ast.expr, values: Mapping[str, int]) -> int:
        match node:
            case ast.Constant(value=value) if type(value) is int:
                return value
            case ast.Name(id=name) if name in self.names:
                return values[name]
            case ast.Name(id=name):
                raise ValueError(
                    f"{name!r} in {self.text!r} is unknown; there are {', '.join(self.names) or 'no names'}"
                )
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._evaluate(left, values), self._evaluate(right, values))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._evaluate(operand, values)
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*(self._evaluate(argument, values) for argument in arguments))
        raise ValueError(f"{ast.unparse(node)!r} in {self.text!r} is not allowed; use whole numbers, + - * max min")
