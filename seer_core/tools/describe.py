"""What a checkpoint folder is, how much memory it takes and whether this machine can hold it. Reads no weight."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from seer_core.config import DecoderConfig
from seer_core.errors import ConfigError, SeerError
from seer_core.families.checkpoint import CODES_FOLDER, PROFILE
from seer_core.families.registry import CheckpointInfo, default_dtype, inspect
from seer_core.models.weights import stored_tensors
from seer_core.preprocess.image import ImageLimits, decode_image
from seer_core.preprocess.prepare import prepare_image
from seer_core.preprocess.tokenizer_file import read_backend
from seer_core.tools.family_table import SIGHTS, family_row
from seer_core.tools.memory import free_by_device_gib

ITEM_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
HEADROOM = 1.2
"""Activations, prompts' keys and values and the libraries' own buffers, as a factor on the weights."""

Report = dict[str, object]


def describe(folder: Path, family: str | None = None, image: bytes | None = None) -> Report:
    """The report of a folder, and what becomes of `image` in a prompt where one is given.

    Raises `ConfigError` or `WeightsError` where it is no checkpoint that can be loaded, `BadImage` for an image it does
    not take.
    """
    info = inspect(folder, family)
    stored_tensors(folder)  # a broken file is told before seconds go into importing the towers
    from seer_core.families.network import check_tensors

    tensors = check_tensors(info)
    parameters = sum(tensor.elements for tensor in tensors)
    weights_gib = {dtype: round(parameters * size / 2**30, 4) for dtype, size in ITEM_BYTES.items()}
    free = free_by_device_gib()
    fits = fitting(weights_gib, free)
    tokenizer = _tokenizer(folder)
    row = family_row(info.family)
    return {
        "folder": str(folder),
        "family": info.family.name,
        **{name: row[name] for name in ("title", "loops", "prompt_cache", "logits_shifted", "templates")},
        "images": _images(info),
        "decoder": _sizes(info.decoder),
        "token_ids": {"mask": info.roles.mask_id, "fill": info.roles.fill_id, "ends": sorted(info.roles.end_ids)},
        "parameters": parameters,
        "stored_as": dict(Counter(tensor.stored.dtype for tensor in tensors)),
        "files": len({tensor.path for tensor in tensors}),
        "weights_gib": weights_gib,
        "cache_mib_per_1000_tokens": {dtype: _cache_mib(info.decoder, size) for dtype, size in ITEM_BYTES.items()},
        "loads_as": {device: str(default_dtype(info, device)).removeprefix("torch.") for device in free},
        "tokenizer": tokenizer,
        "calibrated": info.calibrated,
        "profile": "beside the weights" if (folder / PROFILE).exists() else "uncalibrated: run seer calibrate",
        "fits": fits,
        "can_serve": any(fits.values()) and tokenizer == "found",
        **({} if image is None else {"image": image_report(info, image)}),
    }


def image_report(info: CheckpointInfo, image: bytes) -> Report:
    """An image's size, and the positions it fills in a prompt where it is the only one."""
    rule = info.image_rule
    if rule is None:
        raise ConfigError(f"the checkpoint {info.folder} takes no images", field="image")
    prepared = prepare_image(decode_image(image, ImageLimits()), rule)
    return {"size_px": list(prepared.size_px), "tokens": prepared.tokens}


def fitting(weights_gib: dict[str, float], free_gib: dict[str, float]) -> dict[str, list[str]]:
    """Device -> the dtypes in which the weights, with headroom, fit into its free memory."""
    return {
        device: [dtype for dtype, size in weights_gib.items() if size * HEADROOM <= free]
        for device, free in free_gib.items()
    }


def _images(info: CheckpointInfo) -> str:
    seen = SIGHTS[info.family.sight]
    needs = f"a folder {CODES_FOLDER}, or one named by image_codes under the key seer of config.json"
    return f"none; {seen} need {needs}" if info.image_rule is None and info.family.image_rule is not None else seen


def _sizes(config: DecoderConfig) -> Report:
    return {
        "layers": config.layers,
        "hidden_size": config.hidden_size,
        "heads": config.heads,
        "kv_heads": config.kv_heads,
        "vocabulary": config.vocab_size,
        "max_positions": config.max_positions,
    }


def _cache_mib(config: DecoderConfig, item_bytes: int) -> float:
    head_size = config.hidden_size // config.heads
    return round(2 * config.layers * config.kv_heads * head_size * 1000 * item_bytes / 2**20, 2)


def _tokenizer(folder: Path) -> str:
    try:
        read_backend(folder)
    except SeerError as error:
        return f"not usable: {error}"
    return "found"
