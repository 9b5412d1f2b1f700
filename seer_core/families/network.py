"""From what a checkpoint says of itself to its network, empty or filled. It imports towers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch

from seer_core.errors import ConfigError
from seer_core.families.checkpoint import CheckpointInfo
from seer_core.families.source import Source, source_of
from seer_core.models.code_vlm import CodeModel
from seer_core.models.decoder import Decoder
from seer_core.models.multimodal import MultimodalModel
from seer_core.models.skeleton import skeleton
from seer_core.models.vision import magvit
from seer_core.models.vision.siglip import SiglipTower
from seer_core.models.vlm import VisionLanguageModel
from seer_core.models.weights import Transfer, stored_tensors
from seer_core.preprocess.frame import Framing
from seer_core.preprocess.image import Tiling


def build_model(info: CheckpointInfo) -> MultimodalModel:
    """The network a checkpoint describes, weights not loaded; without images it is the decoder and no tower.

    Raises `ConfigError` or `WeightsError` where its files contradict each other.
    """
    rule = info.image_rule
    if rule is None:
        return MultimodalModel(Decoder(info.decoder), info.family.placeholder_id)
    if isinstance(rule, Framing) and info.codes is not None:
        return _build_coded(info, rule, info.codes)
    if isinstance(rule, Tiling):
        return build_tiled(info)
    from seer_core.models.native_vlm import NativeResolutionModel  # their libraries take seconds
    from seer_core.models.vision.qwen_vit import QwenVit

    return NativeResolutionModel(Decoder(info.decoder), QwenVit(info.vision), info.family.placeholder_id)


def build_tiled(info: CheckpointInfo) -> VisionLanguageModel:
    """As `build_model`, of a checkpoint that takes images in tiles; raises `ConfigError` for another."""
    rule = info.image_rule
    if not isinstance(rule, Tiling):
        raise ConfigError(f"a model of {info.family.name} takes no images in tiles", field="family")
    tower = SiglipTower(info.vision)
    pooled = rule.side_tokens < tower.patches_per_side
    return VisionLanguageModel(Decoder(info.decoder), tower, info.family.placeholder_id, pooled=pooled)


def fill_model(model: MultimodalModel, info: CheckpointInfo, device: str, dtype: torch.dtype, *, quiet: bool) -> None:
    """Load every weight of a model built by `build_model`; raises `WeightsError` before the first one is read."""
    sources = list(_sources(model, info))
    for source in sources:
        source.check()
    for source in sources:
        source.load(device, dtype, quiet=quiet)
    if isinstance(model, VisionLanguageModel) and info.family.newline_bfloat16:
        model.newline.data = model.newline.data.bfloat16().to(model.newline.dtype)


def check_tensors(info: CheckpointInfo) -> list[Transfer]:
    """Compare every tensor's name and shape with what the model needs, by the files' headers alone; what fills it.

    Raises `WeightsError` that names the file or tensor.
    """
    with skeleton():
        model = build_model(info)
    return [transfer for source in _sources(model, info) for transfer in source.check()]


def _sources(model: MultimodalModel, info: CheckpointInfo) -> Iterator[Source]:
    if isinstance(model, CodeModel) and info.codes is not None:
        yield source_of(model.decoder, info, prefix="decoder.")
        # A code is the signs of its features: what rounding moves across zero becomes another code.
        yield Source(module=model.tower, folder=info.codes, names=magvit.NAMES, prefix="tower.", exact=True)
    else:
        yield source_of(model, info)


def _build_coded(info: CheckpointInfo, rule: Framing, folder: Path) -> CodeModel:
    sizes = magvit.read_sizes({name: stored.shape for name, stored in stored_tensors(folder).items()})
    config, first = info.decoder, info.family.first_code_id
    if sizes.patch_px != rule.patch_px:
        raise ConfigError(
            f"a code of the image tokenizer in {folder} spans {sizes.patch_px} pixels, not {rule.patch_px}"
        )
    if first + 2**sizes.bits > config.vocab_size:
        text = f"{2**sizes.bits} image codes from id {first} on do not fit into {config.vocab_size} rows"
        raise ConfigError(f"{info.folder}: {text}", field="embedding_size")
    return CodeModel(Decoder(config), magvit.MagvitEncoder(sizes), info.family.placeholder_id, first_code_id=first)
