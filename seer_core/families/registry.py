"""From a folder on disk to its family, and from both to a processor, a decoder or a whole model.

Torch is imported only where a network is built, so that a process that only prepares prompts stays light.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seer_core.errors import ConfigError, WeightsError
from seer_core.families.family import Family
from seer_core.families.lavida import LAVIDA_LLADA
from seer_core.models.weights import fingerprint, load_into, tensor_files
from seer_core.preprocess.processor import Processor, PromptRules
from seer_core.preprocess.tokenizer import Tokenizer
from seer_core.types import TokenRoles

if TYPE_CHECKING:
    import torch

    from seer_core.models.decoder import Decoder
    from seer_core.models.vlm import VisionLanguageModel

FAMILIES = (LAVIDA_LLADA,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointInfo:
    """What config.json and the tensor names say, before any weight is read.

    `local` are settings under the key `seer` of config.json: `default_system`, `min_images`, `max_images`,
    `turn_end_id`.
    """

    folder: Path
    family: Family
    fields: dict[str, Any]
    vision: dict[str, Any]
    local: dict[str, Any]

    @property
    def roles(self) -> TokenRoles:
        fill = self.fields["eos_token_id"]
        turn_end = self.local.get("turn_end_id", self.family.turn_end_id)
        return TokenRoles(mask_id=self.fields["mask_token_id"], fill_id=fill, end_ids=frozenset((fill, turn_end)))

    def fingerprint(self) -> str:
        """The identity of the weights; see `weights.fingerprint`."""
        return fingerprint(self.folder)


def inspect(folder: Path) -> CheckpointInfo:
    """Read config.json and tensor names; raises `ConfigError` or `WeightsError` that says what was seen."""
    if not folder.is_dir():
        raise ConfigError(f"there is no checkpoint folder {folder}")
    fields = _json(folder / "config.json")
    family = detect(folder, fields)
    try:
        return CheckpointInfo(
            folder=folder,
            family=family,
            fields=fields,
            vision=_vision(folder, fields),
            local=fields.get("seer", {}),
        )
    except KeyError as error:
        raise ConfigError(f"{folder / 'config.json'} lacks {error}") from error


def detect(folder: Path, fields: dict[str, Any]) -> Family:
    """The family whose marker tensor and architecture fit; raises `WeightsError` for an unknown layout."""
    names = tensor_files(folder)
    architectures = fields.get("architectures") or []
    for family in FAMILIES:
        if family.marker in names and any(name in family.architectures for name in architectures):
            return family
    known = ", ".join(f"{family.name} ({family.marker})" for family in FAMILIES)
    raise WeightsError(f"{folder} is no known family: architectures {architectures}; supported: {known}")


def load_processor(folder: Path) -> Processor:
    """Tokenizer, template and tiling of a checkpoint. Imports no torch."""
    info = inspect(folder)
    template = info.family.template
    if "default_system" in info.local:
        template = dataclasses.replace(template, default_system=info.local["default_system"])
    rules = PromptRules(
        placeholder_id=info.family.placeholder_id,
        max_positions=info.family.decoder(info.fields).max_positions,
        min_images=info.local.get("min_images", 0),
        max_images=info.local.get("max_images", 16),
    )
    return Processor(Tokenizer.load(folder), template, info.family.tiling(info.fields, info.vision), rules)


def load_decoder(folder: Path, *, device: str = "cpu", dtype: torch.dtype | None = None) -> Decoder:
    """The decoder alone, for a worker. Reads no tower."""
    from seer_core.models.decoder import Decoder

    check_device(device)
    info = inspect(folder)
    decoder = Decoder(info.family.decoder(info.fields))
    load_into(decoder, folder, info.family.names, prefix="decoder.")
    return decoder.to(device, dtype).eval()


def load_model(folder: Path, *, device: str = "cpu", dtype: torch.dtype | None = None) -> VisionLanguageModel:
    """Tower, projector and decoder."""
    check_device(device)
    info = inspect(folder)
    model = build_model(info)
    load_into(model, folder, info.family.names)
    if info.family.newline_bfloat16:
        model.newline.data = model.newline.data.bfloat16().to(model.newline.dtype)
    return model.to(device, dtype).eval()


def check_device(device: str) -> None:
    """Raises `ConfigError` where torch cannot use `device` on this machine."""
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device {device!r} cannot be used here: {error}", field="device") from error


def build_model(info: CheckpointInfo) -> VisionLanguageModel:
    """The network a checkpoint describes, weights not loaded."""
    from seer_core.models.decoder import Decoder
    from seer_core.models.vision.siglip import SiglipTower
    from seer_core.models.vlm import VisionLanguageModel

    decoder = Decoder(info.family.decoder(info.fields))
    return VisionLanguageModel(decoder, SiglipTower(info.vision), info.family.placeholder_id)


def _vision(folder: Path, fields: dict[str, Any]) -> dict[str, Any]:
    name = fields["mm_vision_tower"]
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
