"""Peak memory of the tensors that an action allocates."""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_memory(action: Callable[[], Any]) -> int:
    """Return the largest number of bytes that tensors made by `action` occupy at one time.

    Memory that an operation uses internally is not counted.
    """
    with _Peak() as peak:
        action()
    return peak.largest


class _Peak(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, int] = {}
        self.now = self.largest = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        given = {leaf.untyped_storage()._cdata for leaf in tree_leaves((args, kwargs)) if torch.is_tensor(leaf)}
        for tensor in tree_leaves(result):
            if torch.is_tensor(tensor) and tensor.untyped_storage()._cdata not in given:
                self._count(tensor.untyped_storage())
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key not in self.alive:
            self.alive[key] = size
            self.now += size
            self.largest = max(self.largest, self.now)
            weakref.finalize(storage, self._forget, key)

    def _forget(self, key: int) -> None:
        self.now -= self.alive.pop(key, 0)
