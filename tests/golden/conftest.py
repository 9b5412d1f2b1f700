"""Golden cases and the tiny checkpoints they were made with; SEER_GOLDEN_DIR points to another set of the same form."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.golden import weights
from tests.golden.byte_tokenizer import SPECIALS, write_tokenizer

CASES = Path(os.environ.get("SEER_GOLDEN_DIR", Path(__file__).parent / "cases"))


def case_names(family: str) -> list[str]:
    """Names of the generation cases of a family: those with settings."""
    paths = sorted((CASES / family).glob("*.json"))
    return [path.stem for path in paths if "settings" in json.loads(path.read_text())]


@cache
def load_case(family: str, name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((CASES / family / f"{name}.json").read_text())
    return case


def load_numbers(family: str, name: str) -> dict[str, torch.Tensor]:
    return load_file(CASES / family / f"{name}.safetensors")


@pytest.fixture(scope="session")
def checkpoint_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], Path]:
    """A case's `weights` -> folder of the tiny checkpoint it was made with and a tokenizer, once per session."""

    @cache
    def write(family: str, seed: int, boost: tuple[tuple[str, float], ...]) -> Path:
        folder = tmp_path_factory.mktemp(family)
        weights.write(family, str(folder), seed, dict(boost))  # type: ignore[no-untyped-call]
        if family in SPECIALS:  # the image tokenizer's own folder has no words
            write_tokenizer(family, folder)
        return folder

    return lambda recipe: write(recipe["family"], recipe["seed"], tuple(recipe["boost"].items()))


@pytest.fixture(scope="session")
def golden_checkpoint(checkpoint_of: Callable[[dict[str, Any]], Path]) -> Callable[[str], Path]:
    """family -> folder of its tiny checkpoint with nothing boosted."""
    return lambda family: checkpoint_of({"family": family, "seed": 0, "boost": {}})


TEXT = {"llada": ("lavida_llada", "LLaDAModelLM"), "dream": ("lavida_dream", "DreamModel")}
"""Families without eyes: whose decoder they are, and what their checkpoints call themselves."""


@pytest.fixture(scope="session")
def text_checkpoint(
    golden_checkpoint: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """family -> folder with the decoder alone of the multimodal family that was made from it."""

    @cache
    def write(family: str) -> Path:
        source, architecture = TEXT[family]
        folder, whole = tmp_path_factory.mktemp(family), golden_checkpoint(source)
        eyes = ("model.vision_tower.", "model.mm_projector.", "model.image_newline")
        tensors = load_file(whole / "model.safetensors")
        words = {name: tensor for name, tensor in tensors.items() if not name.startswith(eyes)}
        save_file(words, folder / "model.safetensors")
        fields = json.loads((whole / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**fields, "architectures": [architecture]}))
        write_tokenizer(family, folder)
        return folder

    return write


@pytest.fixture(scope="session")
def coded_checkpoint(
    golden_checkpoint: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """How images are framed -> a checkpoint of MMaDA that says where its image tokenizer is."""

    @cache
    def write(fit: str) -> Path:
        folder, plain = tmp_path_factory.mktemp(fit), golden_checkpoint("mmada")
        for name in ("model.safetensors", "tokenizer.json"):
            (folder / name).symlink_to(plain / name)
        local = {"image_codes": str(golden_checkpoint("mmada_magvit")), "image_fit": fit}
        fields = json.loads((plain / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**fields, "seer": local}))
        return folder

    return write


@pytest.fixture(scope="session")
def seeing_checkpoint(
    golden_checkpoint: Callable[[str], Path], coded_checkpoint: Callable[[str], Path]
) -> Callable[[str], Path]:
    """family -> folder of its tiny checkpoint, with all it needs to see."""
    return lambda family: coded_checkpoint("crop") if family == "mmada" else golden_checkpoint(family)
