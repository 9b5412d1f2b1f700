"""Graphs without a device: the operations of a body recorded once and repeated on the recorded tensors.

As with a real graph, a tensor that was not there at capture is never read, shapes are frozen, and reading a value on
the host is refused. It exists to test on a CPU what depends on that. Memory is not reused inside a recording, and what
bypasses torch's dispatcher, as Triton kernels do, is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from seer_core.errors import EngineError

HOST_READS = frozenset({Tensor.tolist, Tensor.numpy, Tensor.__array__, Tensor.cpu})
"""Methods that reach a CPU tensor's memory past the dispatcher."""


class RecordingGraphs:
    """The back-end."""

    def capture(self, body: Callable[[], Tensor]) -> tuple[Recording, Tensor]:
        """Run `body` and keep what it did. Raises EngineError where a device could not capture it."""
        recorder = _Recorder()
        with _HostReadsRefused(), recorder:
            output = body()
        return Recording(recorder.operations), output


class _Operation(NamedTuple):
    """One call, and which of its results must be copied where: those that alias no argument."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    fresh: tuple[tuple[int, Tensor], ...]

    def repeat(self) -> None:
        """Call again on the recorded arguments; the recorded results take the new values."""
        results = tree_leaves(self.function(*self.args, **self.kwargs))
        for index, recorded in self.fresh:
            recorded.copy_(results[index])


class Recording:
    """The operations of a body, in order."""

    def __init__(self, operations: Sequence[_Operation]) -> None:
        self._operations = tuple(operations)
        self.size_bytes = sum(
            tensor.untyped_storage().nbytes() for operation in self._operations for _, tensor in operation.fresh
        )

    @torch.inference_mode()  # recorded tensors may be inference tensors, which are written nowhere else
    def replay(self) -> None:
        """Repeat them."""
        for operation in self._operations:
            operation.repeat()


class _Recorder(TorchDispatchMode):
    """Sees every operation below autograd."""

    def __init__(self) -> None:
        TorchDispatchMode.__init__(self)
        self.operations: list[_Operation] = []

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        # In inference mode composite operations arrive whole; what they do inside must be seen as well.
        with self:
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        _refuse_host_read(func, args, kwargs)
        result = func(*args, **kwargs)
        given = {_address(tensor) for tensor in _tensors((args, kwargs))}
        fresh = tuple(
            (index, leaf)
            for index, leaf in enumerate(tree_leaves(result))
            if isinstance(leaf, Tensor) and _address(leaf) not in given
        )
        # The rest are views: they look at storage that other operations write.
        if fresh or func._schema.is_mutable:
            self.operations.append(_Operation(func, args, kwargs, fresh))
        return result


class _HostReadsRefused(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in HOST_READS:
            raise EngineError(f"a captured body cannot read tensors on the host: Tensor.{func.__name__}")
        return func(*args, **(kwargs or {}))


def _refuse_host_read(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises EngineError if the result, or its shape, depends on values, or if values come from the host."""
    aten = torch.ops.aten
    if func in (aten.index.Tensor, aten.index_put_.default, aten.index_put.default):
        # A boolean mask is as many indices as it has hits. One value under a mask is a fill, which needs no count.
        refused = any(index.dtype in (torch.bool, torch.uint8) for index in _tensors(args[1])) and (
            func is aten.index.Tensor or args[2].numel() != 1
        )
    elif func is aten.repeat_interleave.Tensor:
        refused = kwargs.get("output_size") is None
    elif func is aten.lift_fresh.default:
        refused = args[0].dim() > 0  # a tensor made of host values; a single one travels with its operation
    else:
        refused = bool({torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & set(func.tags))
    if refused:
        raise EngineError(f"a captured body cannot depend on values that the host must know: {func}")


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
