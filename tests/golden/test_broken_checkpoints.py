"""A checkpoint that is not whole is refused at once, with one error that names the file or the tensor."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import pytest
from safetensors.torch import load_file, save_file

from deployments.app import checked
from seer_core.cli import main
from seer_core.errors import SeerError, WeightsError
from seer_core.families.registry import inspect, load_model

FAMILIES = ("lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple")
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
SOON_S = 5.0


@pytest.fixture(params=FAMILIES)
def sharded(request: pytest.FixtureRequest, seeing_checkpoint: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of a family's checkpoint whose tensors lie in two shards, one layer's tensor in the second."""
    whole = seeing_checkpoint(request.param)
    for path in whole.iterdir():
        if path.name != "model.safetensors":
            (tmp_path / path.name).symlink_to(path)
    tensors = load_file(whole / "model.safetensors")
    last = max(name for name in tensors if ".3." in name)
    save_file({name: tensor for name, tensor in tensors.items() if name != last}, tmp_path / SHARDS[0])
    save_file({last: tensors[last]}, tmp_path / SHARDS[1])
    place(tmp_path, {name: SHARDS[name == last] for name in tensors})
    return tmp_path


def place(folder: Path, shards: dict[str, str]) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))


def placed(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    return found


def refusal(folder: Path) -> str:
    """The error that loading ends with, in little time."""
    start = perf_counter()
    with pytest.raises(SeerError) as caught:
        load_model(folder)
    assert perf_counter() - start < SOON_S
    assert isinstance(caught.value, WeightsError)
    return caught.value.message


def test_whole_it_loads(sharded: Path) -> None:
    assert load_model(sharded).decoder.config.layers == 4


def test_a_missing_shard_is_named(sharded: Path) -> None:
    (sharded / SHARDS[1]).unlink()
    assert f"{SHARDS[1]} is missing" in refusal(sharded)


def test_a_truncated_file_is_named(sharded: Path) -> None:
    path = sharded / SHARDS[0]
    path.write_bytes(path.read_bytes()[:-1000])
    assert f"{SHARDS[0]} cannot be read" in refusal(sharded)


def test_a_renamed_tensor_and_what_is_missing_for_it_are_named(sharded: Path) -> None:
    ((last, tensor),) = load_file(sharded / SHARDS[1]).items()
    save_file({"model.oops": tensor}, sharded / SHARDS[1])
    place(sharded, {name: shard for name, shard in placed(sharded).items() if name != last} | {"model.oops": SHARDS[1]})
    said = refusal(sharded)
    assert "missing: " in said
    assert "unknown: model.oops" in said


def test_where_the_tensor_a_family_is_known_by_is_missing_it_is_named(sharded: Path) -> None:
    mark = inspect(sharded).family.present[-1]
    place(sharded, {name: shard for name, shard in placed(sharded).items() if name != mark})
    assert f"it lacks {mark}" in refusal(sharded)


def test_a_wrong_shape_is_named_with_the_right_one(sharded: Path) -> None:
    ((name, tensor),) = load_file(sharded / SHARDS[1]).items()
    save_file({name: tensor[:-1].clone()}, sharded / SHARDS[1])
    said = refusal(sharded)
    assert name in said
    assert f"needs {list(tensor.shape)}" in said


def test_a_broken_image_tokenizer_is_named_before_anything_is_loaded(
    coded_checkpoint: Callable[[str], Path], golden_checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    tensors = load_file(golden_checkpoint("mmada_magvit") / "model.safetensors")
    tensors["encoder.oops"] = tensors.pop("encoder.mid.attn_1.q.weight")
    eyes = tmp_path / "magvit"
    eyes.mkdir()
    save_file(tensors, eyes / "model.safetensors")
    whole = coded_checkpoint("crop")
    fields = json.loads((whole / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**fields, "seer": {}}))
    (tmp_path / "model.safetensors").symlink_to(whole / "model.safetensors")
    said = refusal(tmp_path)
    assert "missing: tower.mid.attn_1.q.weight" in said
    assert "unknown: encoder.oops" in said


def lose_a_shard(folder: Path) -> str:
    (folder / SHARDS[1]).unlink()
    return f"{SHARDS[1]} is missing"


def cut_a_file(folder: Path) -> str:
    path = folder / SHARDS[0]
    path.write_bytes(path.read_bytes()[:-1000])
    return f"{SHARDS[0]} cannot be read"


def rename_a_tensor(folder: Path) -> str:
    ((last, tensor),) = load_file(folder / SHARDS[1]).items()
    save_file({"model.oops": tensor}, folder / SHARDS[1])
    place(folder, {name: shard for name, shard in placed(folder).items() if name != last} | {"model.oops": SHARDS[1]})
    return "unknown: model.oops"


def misshape_a_tensor(folder: Path) -> str:
    ((name, tensor),) = load_file(folder / SHARDS[1]).items()
    save_file({name: tensor[:-1].clone()}, folder / SHARDS[1])
    return f"{name} in {folder / SHARDS[1]} has shape"


def pickle_it(folder: Path) -> str:
    for name in (*SHARDS, "model.safetensors.index.json"):
        (folder / name).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")
    return "holds pickled weights (pytorch_model.bin)"


@pytest.mark.parametrize("sharded", ["lavida_llada", "dimple"], indirect=True)
@pytest.mark.parametrize("spoil", [lose_a_shard, cut_a_file, rename_a_tensor, misshape_a_tensor, pickle_it])
def test_every_door_refuses_it_with_the_same_words(
    sharded: Path, spoil: Callable[[Path], str], capsys: pytest.CaptureFixture[str]
) -> None:
    named = spoil(sharded)
    start = process_time()  # of this process alone: a busy machine is not slow software
    for command in (["inspect", str(sharded)], ["generate", "--model", str(sharded), "--prompt", "What is it?"]):
        assert main(command) == 2
        assert named in capsys.readouterr().err
    with pytest.raises(SeerError, match=r".") as caught:
        checked({"model": str(sharded)}).working_parts()
    assert named in caught.value.message
    assert process_time() - start < SOON_S


@pytest.mark.parametrize("sharded", ["dimple"], indirect=True)
@pytest.mark.parametrize("spoil", [lose_a_shard, cut_a_file, pickle_it])
def test_a_broken_file_is_told_before_the_towers_libraries_are_imported(
    sharded: Path, spoil: Callable[[Path], str]
) -> None:
    named = spoil(sharded)
    commands = (["inspect", str(sharded)], ["generate", "--model", str(sharded), "--prompt", "What is it?"])
    said = f"[main(command) for command in {commands}], 'transformers' in sys.modules"
    cold = f"import sys; from seer_core.cli import main; print({said})"
    ran = subprocess.run([sys.executable, "-c", cold], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[2, 2] False"
    assert ran.stderr.count(named) == 2
