"""Products of queries with learned tables of positions."""

from jaxtyping import Float
from torch import Tensor


def table_scores(
    q: Float[Tensor, "B H q d"], table: Float[Tensor, "m d"] | Float[Tensor, "H m d"]
) -> Float[Tensor, "B H q m"]:
    """Return q . R_m for all rows of a table: one product for each head, where `@` would copy the table B times."""
    if table.ndim == 2:
        return q @ table.mT
    product = q.transpose(0, 1).flatten(1, 2) @ table.mT
    return product.unflatten(1, (q.shape[0], q.shape[2])).transpose(0, 1)
