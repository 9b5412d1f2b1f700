"""A folder of weights and the part of a model that they fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from seer_core.families.checkpoint import CheckpointInfo
from seer_core.models.weights import NameTable, Transfer, load_into, transfers

if TYPE_CHECKING:
    import torch
    from torch import nn


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """`names` and `prefix` say what belongs where, as in `load_into`. `exact` keeps the module's own dtype."""

    module: nn.Module
    folder: Path
    names: NameTable
    prefix: str = ""
    spare_rows: Mapping[str, int] = field(default_factory=dict)
    exact: bool = False

    def check(self) -> list[Transfer]:
        """What would be loaded; raises `WeightsError` where names or shapes do not fit. Reads headers alone."""
        return transfers(self.module, self.folder, self.names, prefix=self.prefix, spare_rows=self.spare_rows)

    def load(self, device: str, dtype: torch.dtype, *, quiet: bool) -> None:
        """Fill the module; raises `WeightsError` before the first tensor is read."""
        load_into(
            self.module,
            self.folder,
            self.names,
            prefix=self.prefix,
            spare_rows=self.spare_rows,
            device=device,
            dtype=None if self.exact else dtype,
            quiet=quiet,
        )


def source_of(module: nn.Module, info: CheckpointInfo, prefix: str = "") -> Source:
    """The checkpoint's own tensors, for a model or, with the prefix `decoder.`, for its decoder."""
    spare = dict.fromkeys(("decoder.embedding.weight", "decoder.head.weight"), info.decoder.spare_rows)
    return Source(module=module, folder=info.folder, names=info.family.names, prefix=prefix, spare_rows=spare)
