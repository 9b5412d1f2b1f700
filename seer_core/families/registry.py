"""From a folder on disk to a processor, a decoder or a whole model.

Torch is imported only where a network is built, so that a process that only prepares prompts stays light.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seer_core.errors import ConfigError
from seer_core.families.checkpoint import CheckpointInfo, inspect
from seer_core.families.source import source_of
from seer_core.models.weights import stored_tensors
from seer_core.preprocess.processor import Processor, PromptRules
from seer_core.preprocess.tokenizer import Tokenizer

if TYPE_CHECKING:
    import torch

    from seer_core.models.decoder import Decoder
    from seer_core.models.multimodal import MultimodalModel

__all__ = [
    "CheckpointInfo",
    "check_device",
    "default_dtype",
    "inspect",
    "load_decoder",
    "load_model",
    "load_processor",
]


def load_processor(folder: Path, family: str | None = None) -> Processor:
    """Tokenizer, template and image rule of a checkpoint. Imports no torch."""
    info = inspect(folder, family)
    rule = info.image_rule
    rules = PromptRules(
        placeholder_id=info.family.placeholder_id,
        max_positions=info.decoder.max_positions,
        min_images=info.local.get("min_images", 0),
        max_images=0 if rule is None else info.local.get("max_images", 16),
        control_ids=info.family.control_ids,
    )
    tokenizer = Tokenizer.load(folder)
    tokenizer.guard(names=info.template.controls, ids=(info.roles.mask_id, *info.roles.end_ids))
    return Processor(tokenizer, info.template, rule, rules)


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
    source_of(decoder, info, "decoder.").load(device, dtype or default_dtype(info, device), quiet=quiet)
    return decoder.to(device).eval()


def load_model(
    folder: Path,
    *,
    device: str = "cpu",
    dtype: torch.dtype | None = None,
    family: str | None = None,
    quiet: bool = False,
) -> MultimodalModel:
    """Tower, projector and decoder, as far as the family has them. `dtype` None is that of `default_dtype`."""
    info = inspect(folder, family)
    stored_tensors(folder)  # a broken file is told before seconds go into importing the towers
    check_device(device)
    from seer_core.families.network import build_model, fill_model
    from seer_core.models.skeleton import skeleton

    with skeleton():
        model = build_model(info)
    fill_model(model, info, device, dtype or default_dtype(info, device), quiet=quiet)
    return model.to(device).eval()


def default_dtype(info: CheckpointInfo, device: str) -> torch.dtype:
    """The dtype that config.json names, bfloat16 where it names none.

    On a CPU bfloat16 is taken where it is as fast as float32, which every call measures, and float32 otherwise.
    """
    import torch

    from seer_core.models.precision import bfloat16_keeps_up

    name = str(info.fields.get("dtype") or info.fields.get("torch_dtype") or "bfloat16").removeprefix("torch.")
    if name not in ("float32", "float16", "bfloat16"):
        raise ConfigError(f"{info.folder / 'config.json'} names the dtype {name!r}", field="dtype")
    dtype: torch.dtype = getattr(torch, name)
    if torch.device(device).type == "cpu" and (dtype != torch.bfloat16 or not bfloat16_keeps_up()):
        return torch.float32
    return dtype


def check_device(device: str) -> None:
    """Raises `ConfigError` where torch cannot use `device` on this machine."""
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device {device!r} cannot be used here: {error}", field="device") from error
