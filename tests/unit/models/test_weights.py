"""Strict loading: what is missing, unknown, misshapen or unreadable is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from seer_core.errors import WeightsError
from seer_core.models.weights import fingerprint, load_into

TABLE = ((r"in\.(weight|bias)", r"first.\1"), (r"out\.(weight|bias)", r"second.\1"))


class Pair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 2)
        self.second = nn.Linear(2, 3)


def tensors() -> dict[str, torch.Tensor]:
    return {
        "in.weight": torch.ones(2, 3),
        "in.bias": torch.zeros(2),
        "out.weight": torch.full((3, 2), 2.0),
        "out.bias": torch.zeros(3),
    }


def saved(folder: Path, held: dict[str, torch.Tensor]) -> Path:
    save_file(held, folder / "model.safetensors")
    return folder


def test_every_tensor_finds_its_place(tmp_path: Path) -> None:
    pair = Pair()
    load_into(pair, saved(tmp_path, tensors()), TABLE)
    assert pair.first.weight.sum() == 6
    assert pair.second.weight.sum() == 12


def test_a_child_loads_its_own_tensors_alone(tmp_path: Path) -> None:
    child = nn.Linear(3, 2)
    load_into(child, saved(tmp_path, tensors()), TABLE, prefix="first.")
    assert child.weight.sum() == 6


def test_shards_are_read_through_the_index(tmp_path: Path) -> None:
    held = tensors()
    names = {"a.safetensors": ["in.weight", "in.bias"], "b.safetensors": ["out.weight", "out.bias"]}
    for shard, keys in names.items():
        save_file({key: held[key] for key in keys}, tmp_path / shard)
    index = {"weight_map": {key: shard for shard, keys in names.items() for key in keys}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    pair = Pair()
    load_into(pair, tmp_path, TABLE)
    assert pair.second.weight.sum() == 12
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"b\.safetensors is missing"):
        load_into(Pair(), tmp_path, TABLE)


def test_missing_and_unknown_tensors_are_named_together(tmp_path: Path) -> None:
    held = tensors()
    held["oops.weight"] = held.pop("out.weight")
    with pytest.raises(WeightsError, match=r"missing: second\.weight; unknown: oops\.weight"):
        load_into(Pair(), saved(tmp_path, held), TABLE)


def test_a_wrong_shape_is_named_with_both_shapes(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"in\.weight .* has shape \[2, 2\]; the model needs \[2, 3\]"):
        load_into(Pair(), saved(tmp_path, {**tensors(), "in.weight": torch.ones(2, 2)}), TABLE)


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path, tensors()) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(WeightsError, match=r"model\.safetensors cannot be read"):
        load_into(Pair(), tmp_path, TABLE)


def test_a_folder_without_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"neither model\.safetensors nor"):
        load_into(Pair(), tmp_path, TABLE)


def test_the_fingerprint_changes_with_one_weight(tmp_path: Path) -> None:
    before = fingerprint(saved(tmp_path, tensors()))
    changed = tensors()
    changed["in.bias"][0] = 1
    assert fingerprint(saved(tmp_path, changed)) != before
    assert fingerprint(saved(tmp_path, tensors())) == before
