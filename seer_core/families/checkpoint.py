"""What a folder on disk says it is, before any weight is read. Imports no torch."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from seer_core.config import DecoderConfig, LoopFacts
from seer_core.errors import ConfigError
from seer_core.families.detection import detect
from seer_core.families.family import Family
from seer_core.families.llava import SO400M_PATCH14_384
from seer_core.models.weights import fingerprint, tensor_files
from seer_core.preprocess.prepare import ImageRule
from seer_core.preprocess.template import ChatTemplate
from seer_core.types import TokenRoles

Choice = TypeVar("Choice")

CODES_FOLDER = "magvit"
"""Where an image tokenizer lies in a checkpoint that does not say where."""

PROFILE = "profile.json"
"""Where a checkpoint's calibrated numbers lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointInfo:
    """What config.json and the tensor names say, before any weight is read.

    `local` are settings under the key `seer` of config.json: `family` where detection would err, `template` for another
    of the family's prompt forms, `loop` for another of its loops, `default_system`, `min_images`, `max_images`,
    `turn_end_id`, `image_codes` for the folder of the image tokenizer, `image_fit` for how it frames images.

    `vision` is the tower's config, `preprocessor` is preprocessor_config.json, empty where there is none; `codes` is
    the folder of the image tokenizer, None where the family has none or it is not there.
    """

    folder: Path
    family: Family
    fields: dict[str, Any]
    vision: dict[str, Any]
    preprocessor: dict[str, Any]
    codes: Path | None
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
    def image_rule(self) -> ImageRule | None:
        """How images are prepared; None for a model of text and for one without the image tokenizer it needs.

        Raises `ConfigError` that names the field that is missing or not understood.
        """
        read = self.family.image_rule
        if read is None or (self.family.sight == "codes" and self.codes is None):
            return None
        try:
            return read(self.fields, self.vision, self.preprocessor)
        except KeyError as error:
            raise ConfigError(f"the configuration of {self.folder} lacks {error}") from error

    @property
    def template(self) -> ChatTemplate:
        """The prompt form, with the checkpoint's own system turn where it has one."""
        template = self._chosen("template", {"default": self.family.template, **self.family.templates})
        if "default_system" in self.local:
            template = dataclasses.replace(template, default_system=self.local["default_system"])
        return template

    @property
    def loop(self) -> LoopFacts:
        """How the checkpoint denoises: the family's default loop, or the one it names."""
        return self._chosen("loop", self.family.loops)

    @property
    def calibrated(self) -> bool:
        """Whether a profile with fitted numbers lies beside the weights; without one the probe's are the paper's."""
        path = self.folder / PROFILE
        return path.exists() and bool(_json(path).get("calibrated", False))

    def _chosen(self, field: str, known: Mapping[str, Choice]) -> Choice:
        """What `local` names of `known`, else the first."""
        name = self.local.get(field, next(iter(known)))
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            text = f"{self.family.name} has no {field} {name!r}, known are {', '.join(known)}{hint}"
            raise ConfigError(text, field=field)
        return known[name]

    def _id(self, field: str, default: int) -> int:
        value = self.fields.get(field)
        return default if value is None else int(value)

    def fingerprint(self) -> str:
        """The identity of the weights; see `weights.fingerprint`."""
        return fingerprint(self.folder)


def inspect(folder: Path, family: str | None = None, loop: str | None = None) -> CheckpointInfo:
    """Read config.json and tensor names; raises `ConfigError` or `WeightsError` that says what was seen.

    `family` overrides what the checkpoint looks like, `loop` names another of its family's loops.
    """
    if not folder.is_dir():
        raise ConfigError(f"there is no checkpoint folder {folder}")
    fields = _json(folder / "config.json")
    local = fields.get("seer", {})
    found = detect(folder, fields, tensor_files(folder), family or local.get("family"))
    local = local if loop is None else {**local, "loop": loop}
    try:
        vision = _vision(folder, found, fields)
    except KeyError as error:
        raise ConfigError(f"{folder / 'config.json'} lacks {error}") from error
    preprocessor = folder / "preprocessor_config.json"
    info = CheckpointInfo(
        folder=folder,
        family=found,
        fields=fields,
        vision=vision,
        preprocessor=_json(preprocessor) if preprocessor.exists() else {},
        codes=_codes(folder, local) if found.sight == "codes" else None,
        local=local,
    )
    _ = info.template, info.loop  # a name that is none is refused here
    return info


def _vision(folder: Path, family: Family, fields: dict[str, Any]) -> dict[str, Any]:
    if family.sight == "qwen_vl":
        inner: dict[str, Any] = fields["vision_config"]
        return inner
    return _siglip(folder, fields["mm_vision_tower"]) if family.sight == "siglip" else {}


def _codes(folder: Path, local: dict[str, Any]) -> Path | None:
    named = folder / str(local.get("image_codes", CODES_FOLDER))
    if named.is_dir():
        return named
    if "image_codes" in local:
        raise ConfigError(f"there is no image tokenizer folder {named}", field="image_codes")
    return None


def _siglip(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name / "config.json"
    if path.exists():
        found = _json(path)
        inner: dict[str, Any] = found.get("vision_config", found)
        return {key: value for key, value in inner.items() if key != "model_type"}
    if name.rsplit("/", 1)[-1].endswith("so400m-patch14-384"):
        return dict(SO400M_PATCH14_384)
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
