"""From a folder on disk to its family, and from both to a processor, a decoder or a whole model.

Torch is imported only where a network is built, so that a process that only prepares prompts stays light.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seer_core.config import DecoderConfig
from seer_core.errors import ConfigError
from seer_core.families.detection import detect
from seer_core.families.family import Family
from seer_core.models.weights import fingerprint, load_into, tensor_files, transfers
from seer_core.preprocess.processor import Processor, PromptRules
from seer_core.preprocess.template import ChatTemplate
from seer_core.preprocess.tokenizer import Tokenizer
from seer_core.types import TokenRoles

if TYPE_CHECKING:
    import torch
    from torch import nn

    from seer_core.models.decoder import Decoder
    from seer_core.models.vlm import VisionLanguageModel


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointInfo:
    """What config.json and the tensor names say, before any weight is read.

    `local` are settings under the key `seer` of config.json: `family` where detection would err, `template` for another
    of the family's prompt forms, `default_system`, `min_images`, `max_images`, `turn_end_id`.
    """

    folder: Path
    family: Family
    fields: dict[str, Any]
    vision: dict[str, Any]
    local: dict[str, Any]

    @property
    def roles(self) -> TokenRoles:
        fill = self._id("pad_token_id", self._id("eos_token_id", self.family.fill_id))
        turn_end = self.local.get("turn_end_id", self.family.turn_end_id)
        mask = self._id("mask_token_id", self.family.mask_id)
        return TokenRoles(mask_id=mask, fill_id=fill, end_ids=frozenset((fill, turn_end)))

    @property
    def decoder(self) -> DecoderConfig:
        """The decoder's sizes; raises `ConfigError` that names the field that is missing or not supported."""
        try:
            return self.family.decoder(self.fields)
        except KeyError as error:
            raise ConfigError(f"{self.folder / 'config.json'} lacks {error}") from error

    @property
    def template(self) -> ChatTemplate:
        """The prompt form, with the checkpoint's own system turn where it has one."""
        name = self.local.get("template")
        forms = self.family.templates
        if name is not None and name not in forms:
            known = ", ".join(forms) or "none besides the default"
            raise ConfigError(f"{self.family.name} has no template {name!r}; known: {known}", field="template")
        template = self.family.template if name is None else forms[name]
        if "default_system" in self.local:
            template = dataclasses.replace(template, default_system=self.local["default_system"])
        return template

    def _id(self, field: str, default: int) -> int:
        value = self.fields.get(field)
        return default if value is None else int(value)

    def fingerprint(self) -> str:
        """The identity of the weights; see `weights.fingerprint`."""
        return fingerprint(self.folder)


def inspect(folder: Path, family: str | None = None) -> CheckpointInfo:
    """Read config.json and tensor names; raises `ConfigError` or `WeightsError` that says what was seen.

    `family` overrides what the checkpoint looks like.
    """
    if not folder.is_dir():
        raise ConfigError(f"there is no checkpoint folder {folder}")
    fields = _json(folder / "config.json")
    local = fields.get("seer", {})
    found = detect(folder, fields, tensor_files(folder), family or local.get("family"))
    try:
        vision = _vision(folder, found, fields)
    except KeyError as error:
        raise ConfigError(f"{folder / 'config.json'} lacks {error}") from error
    return CheckpointInfo(folder=folder, family=found, fields=fields, vision=vision, local=local)


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


def _vision(folder: Path, family: Family, fields: dict[str, Any]) -> dict[str, Any]:
    if family.sight == "qwen_vl":
        inner: dict[str, Any] = fields["vision_config"]
        return inner
    return _siglip(folder, fields["mm_vision_tower"]) if family.sight == "siglip" else {}


def _siglip(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name / "config.json"
    if path.exists():
        found = _json(path)
        inner: dict[str, Any] = found.get("vision_config", found)
        return {key: value for key, value in inner.items() if key != "model_type"}
    if name.rsplit("/", 1)[-1].endswith("so400m-patch14-384"):
        from seer_core.models.vision.siglip import SO400M_PATCH14_384

        return SO400M_PATCH14_384
    raise ConfigError(f"the vision tower {name!r} is neither a folder of the checkpoint nor a known tower")


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise ConfigError(f"{path} is missing") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path} does not hold an object")
    return value
