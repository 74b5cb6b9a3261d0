"""Sorting of digits with a scratchpad: the list after every step of an insertion sort."""

from ldhd.tasks import digits
from ldhd.tasks.copy import StringFormat, Strings
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Label, Needs, Task

Steps = tuple[Digits, ...]


def insertion_sort(latent: Digits) -> Steps:
    """Return the first digit, the first two sorted, the first three, and so on."""
    steps: list[Digits] = []
    current: Digits = ()
    for digit in latent:
        place = sum(other <= digit for other in current)
        current = (*current[:place], digit, *current[place:])
        steps.append(current)
    return tuple(steps)


class InsertionFormat(StringFormat):
    """`b x_0 ... x_{n-1} = x_0 * y_0 y_1 * ... * z_0 ... z_{n-1} e`: after each digit the sorted list so far.

    >>> b407=4*04*047e
    >>> b5=5e

    By the theory the scratchpad is needed: without it each digit of the sorted list depends on every digit of the
    prompt, with it on at most five.
    """

    example, content, base = "b407=", "what is to be sorted in", 10

    def answer(self, latent: Digits, label: Label) -> str:
        return f"{'*'.join(map(digits.write, label))}e"

    def needs(self, latent: Digits, label: Label) -> Needs:
        """A digit needs the one that is inserted and, in the list before, those of its place and of the place before.

        It also needs the digit before it, which tells the first place. After the last place `*` follows, or `e` if
        there is no digit to insert next.
        """
        n = len(latent)
        found: Needs = []
        above, start = (0, 0), n + 2
        for k in range(n):
            given = {"x": 1 + k, "x_next": index_of(k + 1, 1, n)}
            found += [
                given
                | {
                    "above": index_of(t, *above),
                    "above_previous": index_of(t - 1, *above),
                    "z_previous": index_of(t - 1, start, k + 1),
                }
                for t in range(k + 2)
            ]
            above, start = (start, k + 1), start + k + 2
        return found


SORTING = Task("sorting", Strings(10), insertion_sort, InsertionFormat())
