"""Strict loading: what is missing, unknown, misshapen or unreadable is named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from seer_core.errors import WeightsError
from seer_core.models.tensor_file import read_header, read_tensor
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


def test_a_file_cut_off_inside_its_header_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path, tensors()) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(WeightsError, match=r"model\.safetensors cannot be read as safetensors: its header is cut off"):
        load_into(Pair(), tmp_path, TABLE)


def test_a_shard_that_lacks_what_the_index_promises_is_named_with_the_tensor(tmp_path: Path) -> None:
    save_file({name: value for name, value in tensors().items() if name != "out.bias"}, tmp_path / "a.safetensors")
    index = {"weight_map": dict.fromkeys(tensors(), "a.safetensors")}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(WeightsError, match=r"a\.safetensors does not hold out\.bias"):
        load_into(Pair(), tmp_path, TABLE)


@pytest.mark.parametrize("shard", ["../outside.safetensors", "pytorch_model-00001.bin"])
def test_an_index_may_only_name_safetensors_beside_it(tmp_path: Path, shard: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"in.weight": shard}}))
    with pytest.raises(WeightsError, match=re.escape(shard)):
        load_into(Pair(), tmp_path, TABLE)


@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "model.pt", "model.pth", "model.ckpt", "pytorch_model.bin.index.json"]
)
def test_pickled_weights_are_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(WeightsError, match=f"pickled weights \\({re.escape(name)}\\).*convert them to safetensors"):
        load_into(Pair(), tmp_path, TABLE)


def test_nothing_is_read_before_everything_fits(tmp_path: Path) -> None:
    pair = Pair()
    before = {name: value.clone() for name, value in pair.state_dict().items()}
    with pytest.raises(WeightsError):
        load_into(pair, saved(tmp_path, {**tensors(), "out.bias": torch.ones(7)}), TABLE)
    assert all(torch.equal(value, before[name]) for name, value in pair.state_dict().items())


def test_tensors_arrive_in_the_dtype_that_is_asked_for(tmp_path: Path) -> None:
    pair = Pair()
    load_into(pair, saved(tmp_path, tensors()), TABLE, dtype=torch.bfloat16)
    assert {value.dtype for value in pair.state_dict().values()} == {torch.bfloat16}
    assert pair.first.weight.sum() == 6


def test_no_progress_shows_where_nobody_looks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_into(Pair(), saved(tmp_path, tensors()), TABLE)
    assert capsys.readouterr().err == ""


def test_spare_rows_are_left_behind_and_must_be_there(tmp_path: Path) -> None:
    long = {**tensors(), "in.weight": torch.arange(12.0).reshape(4, 3), "in.bias": torch.arange(4.0)}
    pair, spare = Pair(), {"first.weight": 2, "first.bias": 2}
    load_into(pair, saved(tmp_path, long), TABLE, spare_rows=spare)
    assert pair.first.weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert pair.first.bias.tolist() == [0, 1]
    with pytest.raises(WeightsError, match=r"in\.bias .* has shape \[2\]; the model needs \[4\]"):
        load_into(pair, saved(tmp_path, tensors()), TABLE, spare_rows=spare)


def test_every_dtype_is_read_as_safetensors_reads_it(tmp_path: Path) -> None:
    kinds = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8)
    held = {str(kind): torch.arange(6).reshape(2, 3).to(kind) for kind in kinds}
    held |= {"bool": torch.tensor([True, False]), "empty": torch.zeros(0, 3), "scalar": torch.tensor(2.0)}
    path = saved(tmp_path, held) / "model.safetensors"
    with path.open("rb") as file:
        for name, stored in read_header(path).items():
            tensor = read_tensor(file, stored)
            assert tensor.dtype == held[name].dtype
            assert torch.equal(tensor, held[name])
