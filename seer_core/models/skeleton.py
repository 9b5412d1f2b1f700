"""Modules whose parameters have shapes and no memory, to be filled from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode


@contextmanager
def skeleton() -> Iterator[None]:
    """Modules built inside get parameters on the meta device; their buffers are real."""

    def empty(module: nn.Module, name: str, parameter: nn.Parameter) -> nn.Parameter:  # noqa: ARG001 - a torch hook
        return nn.Parameter(parameter.to("meta"), requires_grad=parameter.requires_grad)

    # What a hook returns is registered in the parameter's stead; torch's annotation knows nothing of it.
    hook = register_module_parameter_registration_hook(empty)  # type: ignore[arg-type]
    try:
        with _Uninitialised():
            yield
    finally:
        hook.remove()


class _Uninitialised(TorchFunctionMode):
    """Leaves out what would be written into a tensor without memory: torch loads all its decompositions to do it."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = MappingProxyType({}),
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        in_place = name.endswith("_") and not name.endswith("__") and name != "requires_grad_"
        target = args[0] if args else kwargs.get("tensor")  # so `torch.nn.init` hands it over
        if in_place and isinstance(target, Tensor) and target.is_meta:
            return target
        return func(*args, **kwargs)
