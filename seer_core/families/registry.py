"""From a folder on disk to a processor, a decoder or a whole model.

Torch is imported only where a network is built, so that a process that only prepares prompts stays light.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seer_core.errors import ConfigError
from seer_core.families.checkpoint import CheckpointInfo, inspect
from seer_core.models.weights import load_into, transfers
from seer_core.preprocess.processor import Processor, PromptRules
from seer_core.preprocess.tokenizer import Tokenizer

if TYPE_CHECKING:
    import torch
    from torch import nn

    from seer_core.models.decoder import Decoder
    from seer_core.models.vlm import VisionLanguageModel

__all__ = [
    "CheckpointInfo",
    "build_model",
    "check_device",
    "check_tensors",
    "default_dtype",
    "inspect",
    "load_decoder",
    "load_model",
    "load_processor",
]


def load_processor(folder: Path, family: str | None = None) -> Processor:
    """Tokenizer, template and tiling of a checkpoint. Imports no torch."""
    info = inspect(folder, family)
    tiling = info.family.tiling
    rules = PromptRules(
        placeholder_id=info.family.placeholder_id,
        max_positions=info.decoder.max_positions,
        min_images=info.local.get("min_images", 0),
        max_images=info.local.get("max_images", 16) if tiling else 0,
        control_ids=info.family.control_ids,
    )
    tokenizer = Tokenizer.load(folder)
    tokenizer.guard(names=info.template.controls, ids=(info.roles.mask_id, *info.roles.end_ids))
    return Processor(tokenizer, info.template, tiling and tiling(info.fields, info.vision), rules)


def load_decoder(
    folder: Path,
    *,
    device: str = "cpu",
    dtype: torch.dtype | None = None,
    family: str | None = None,
    quiet: bool = False,
) -> Decoder:
    """The decoder alone, for a worker. Reads no tower. `dtype` None is that of `default_dtype`."""
    from seer_core.models.decoder import Decoder
    from seer_core.models.skeleton import skeleton

    check_device(device)
    info = inspect(folder, family)
    with skeleton():
        decoder = Decoder(info.decoder)
    _fill(decoder, info, device, dtype, quiet=quiet, prefix="decoder.")
    return decoder.to(device).eval()


def load_model(
    folder: Path,
    *,
    device: str = "cpu",
    dtype: torch.dtype | None = None,
    family: str | None = None,
    quiet: bool = False,
) -> VisionLanguageModel:
    """Tower, projector and decoder. `dtype` None is that of `default_dtype`."""
    from seer_core.models.skeleton import skeleton

    check_device(device)
    info = inspect(folder, family)
    with skeleton():
        model = build_model(info)
    _fill(model, info, device, dtype, quiet=quiet)
    if info.family.newline_bfloat16:
        model.newline.data = model.newline.data.bfloat16().to(model.newline.dtype)
    return model.to(device).eval()


def default_dtype(info: CheckpointInfo, device: str) -> torch.dtype:
    """The dtype that config.json names, bfloat16 where it names none; float32 on a CPU."""
    import torch

    if torch.device(device).type == "cpu":
        return torch.float32
    name = str(info.fields.get("dtype") or info.fields.get("torch_dtype") or "bfloat16").removeprefix("torch.")
    if name not in ("float32", "float16", "bfloat16"):
        raise ConfigError(f"{info.folder / 'config.json'} names the dtype {name!r}", field="dtype")
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def check_tensors(info: CheckpointInfo) -> None:
    """Compare every tensor's name and shape with what the model needs, by the files' headers alone.

    Raises `WeightsError` that names the file or tensor. A tower that is not built here is not looked at.
    """
    from seer_core.models.decoder import Decoder
    from seer_core.models.skeleton import skeleton

    with skeleton():
        module: nn.Module = Decoder(info.decoder) if info.family.tiling is None else build_model(info)
    prefix = "decoder." if info.family.tiling is None else ""
    transfers(module, info.folder, info.family.names, prefix=prefix, spare_rows=_spare(info))


def check_device(device: str) -> None:
    """Raises `ConfigError` where torch cannot use `device` on this machine."""
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device {device!r} cannot be used here: {error}", field="device") from error


def build_model(info: CheckpointInfo) -> VisionLanguageModel:
    """The network a checkpoint describes, weights not loaded."""
    if info.family.tiling is None:
        raise ConfigError(f"models of {info.family.name} can only be loaded as decoders", field="family")
    from seer_core.models.decoder import Decoder
    from seer_core.models.vision.siglip import SiglipTower
    from seer_core.models.vlm import VisionLanguageModel

    decoder = Decoder(info.decoder)
    return VisionLanguageModel(decoder, SiglipTower(info.vision), info.family.placeholder_id)


def _fill(
    module: nn.Module, info: CheckpointInfo, device: str, dtype: torch.dtype | None, *, quiet: bool, prefix: str = ""
) -> None:
    load_into(
        module,
        info.folder,
        info.family.names,
        prefix=prefix,
        spare_rows=_spare(info),
        device=device,
        dtype=dtype or default_dtype(info, device),
        quiet=quiet,
    )


def _spare(info: CheckpointInfo) -> dict[str, int]:
    return dict.fromkeys(("decoder.embedding.weight", "decoder.head.weight"), info.decoder.spare_rows)
