"""What is said of a checkpoint without reading a weight."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from seer_core.embedded import CHECKPOINT
from seer_core.errors import WeightsError
from seer_core.tools.describe import describe, fitting


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CHECKPOINT, tmp_path / "copy"))


def test_the_embedded_model_is_described_whole() -> None:
    report = describe(CHECKPOINT)
    tensors = load_file(CHECKPOINT / "model.safetensors").values()
    assert (report["family"], report["tokenizer"], report["can_serve"]) == ("lavida_llada", "found", True)
    assert report["parameters"] == sum(tensor.numel() for tensor in tensors)
    assert report["profile"] == "beside the weights"


def test_memory_halves_with_the_dtype_and_the_cache_grows_with_layers_and_heads() -> None:
    report = describe(CHECKPOINT)
    cache = report["cache_mib_per_1000_tokens"]
    assert isinstance(cache, dict)
    # Keys and values, 8 layers, 4 heads of width 32.
    assert cache["float32"] == pytest.approx(2 * 8 * 4 * 32 * 1000 * 4 / 2**20, abs=0.01)
    assert cache["bfloat16"] == pytest.approx(cache["float32"] / 2, abs=0.01)


def test_only_what_leaves_headroom_fits() -> None:
    weights = {"float32": 32.0, "bfloat16": 16.0}
    assert fitting(weights, {"cpu": 8.0, "cuda:0": 20.0, "cuda:1": 80.0}) == {
        "cpu": [],
        "cuda:0": ["bfloat16"],
        "cuda:1": ["float32", "bfloat16"],
    }


def test_a_renamed_tensor_is_found_without_loading(copied: Path) -> None:
    tensors = load_file(copied / "model.safetensors")
    tensors["model.oops"] = tensors.pop("model.image_newline")
    save_file(tensors, copied / "model.safetensors")
    with pytest.raises(WeightsError, match=r"missing: newline; unknown: model\.oops"):
        describe(copied)


def test_a_decoder_alone_is_checked_where_no_tower_is_built(tmp_path: Path) -> None:
    fields = {"architectures": ["LLaDAModelLM"], "d_model": 8, "n_layers": 1, "n_heads": 2, "embedding_size": 10}
    (tmp_path / "config.json").write_text(json.dumps({**fields, "mlp_hidden_size": 6}))
    block = "model.transformer.blocks.0."
    shapes: dict[str, tuple[int, ...]] = {
        "q_proj": (8, 8),
        "k_proj": (8, 8),
        "v_proj": (8, 8),
        "attn_out": (8, 8),
        "ff_proj": (6, 8),
    }
    shapes |= {"up_proj": (6, 8), "ff_out": (8, 6), "attn_norm": (8,), "ff_norm": (8,)}
    tensors = {f"{block}{name}.weight": torch.zeros(shape) for name, shape in shapes.items()}
    tensors |= {f"model.transformer.{name}.weight": torch.zeros(10, 8) for name in ("wte", "ff_out")}
    save_file({**tensors, "model.transformer.ln_f.weight": torch.zeros(8)}, tmp_path / "model.safetensors")
    report = describe(tmp_path)
    assert (report["family"], report["images"]) == ("llada", "none")
    assert str(report["tokenizer"]).startswith("not usable")
    assert report["can_serve"] is False
    save_file({**tensors, "model.transformer.ln_f.weight": torch.zeros(9)}, tmp_path / "model.safetensors")
    with pytest.raises(WeightsError, match=r"ln_f\.weight .* has shape \[9\]; the model needs \[8\]"):
        describe(tmp_path)
