"""Tensors that grow with every token of incremental decoding, without being copied each time."""

from jaxtyping import Float
from torch import Tensor

from ldhd.positions.context import Cache


def append(cache: Cache | None, name: str, new: Tensor, dim: int, length: int) -> Tensor:
    """Append `new` to what `cache` holds under this name and return all of it, `length` positions along `dim`.

    Without a cache, `new` is returned.
    """
    if cache is None:
        return new
    seen = length - new.shape[dim]
    if name not in cache or cache[name].shape[dim] < length:
        shape = list(new.shape)
        shape[dim] = _room(length)
        grown = new.new_empty(shape)
        if name in cache:
            grown.narrow(dim, 0, seen).copy_(cache[name].narrow(dim, 0, seen))
        cache[name] = grown
    cache[name].narrow(dim, seen, new.shape[dim]).copy_(new)
    return cache[name].narrow(dim, 0, length)


def append_rows(cache: Cache | None, name: str, new: Float[Tensor, "B A q k"]) -> Float[Tensor, "B A k k"]:
    """Append aligned rows, which also gain a zero column on the left for each new position."""
    if cache is None:
        return new
    queries, keys = new.shape[-2:]
    seen = keys - queries
    if name not in cache or cache[name].shape[-1] < keys:
        room = _room(keys)
        grown = new.new_zeros(*new.shape[:2], room, room)
        if name in cache:
            grown[..., :seen, room - seen :] = cache[name][..., :seen, cache[name].shape[-1] - seen :]
        cache[name] = grown
    room = cache[name].shape[-1]
    cache[name][..., seen:keys, room - keys :] = new
    return cache[name][..., :keys, room - keys :]


def _room(length: int) -> int:
    """Leave room for a quarter more, so that each position is copied a bounded number of times on average."""
    return length + length // 4 + 32
