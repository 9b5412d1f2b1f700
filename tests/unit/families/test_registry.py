"""Which family a folder is, and what is said of one that is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from seer_core.embedded import CHECKPOINT
from seer_core.errors import ConfigError, WeightsError
from seer_core.families.registry import default_dtype, inspect, load_decoder, load_processor
from seer_core.models import precision
from seer_core.preprocess.frame import Framing
from seer_core.preprocess.patches import Patching


def folder_with(path: Path, config: object, names: list[str]) -> Path:
    (path / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    save_file({name: torch.zeros(1) for name in names}, path / "model.safetensors")
    return path


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no checkpoint folder .*nowhere"):
        inspect(tmp_path / "nowhere")


def test_a_folder_without_config_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config\.json is missing"):
        inspect(tmp_path)


def test_an_unknown_layout_says_what_was_seen_and_what_is_known(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, {"architectures": ["GPT9"]}, ["wte"])
    with pytest.raises(WeightsError, match=r"GPT9.*lavida_llada"):
        inspect(folder)


def test_a_config_that_is_no_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not JSON"):
        inspect(folder_with(tmp_path, "{", ["wte"]))


def test_a_tower_that_cannot_be_found_is_named(tmp_path: Path) -> None:
    config = {"architectures": ["LlavaLladaForMaskedDiffusion"], "mm_vision_tower": "acme/eye"}
    folder = folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight", "model.mm_projector.0.weight"])
    with pytest.raises(ConfigError, match="acme/eye"):
        inspect(folder)


def test_both_end_tokens_end_an_answer() -> None:
    info = inspect(CHECKPOINT)
    assert info.roles.end_ids == {info.fields["eos_token_id"], info.local["turn_end_id"]}
    assert info.roles.mask_id not in info.roles.end_ids


def test_a_process_that_only_prepares_prompts_loads_no_torch() -> None:
    code = (
        "import sys; from seer_core.embedded import CHECKPOINT; from seer_core.families.registry import load_processor;"
        "load_processor(CHECKPOINT); sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_checkpoint_may_say_which_family_and_which_prompt_form_it_is(tmp_path: Path) -> None:
    config = {"architectures": ["Tuned"], "seer": {"family": "mmada", "template": "evaluation"}}
    info = inspect(folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"]))
    assert info.family.name == "mmada"
    assert info.template == info.family.templates["evaluation"]


def test_an_unknown_prompt_form_is_refused_with_those_there_are(tmp_path: Path) -> None:
    config = {"architectures": ["MMadaModelLM"], "seer": {"template": "evil"}}
    folder = folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"])
    with pytest.raises(ConfigError, match="no template 'evil', known are default, evaluation"):
        inspect(folder)


def test_the_loop_that_is_asked_for_goes_before_the_checkpoints_own(tmp_path: Path) -> None:
    config = {"architectures": ["MMadaModelLM"], "seer": {"loop": "fast"}}
    folder = folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"])
    assert inspect(folder, loop="full").loop.stop == "none"
    with pytest.raises(ConfigError, match="no loop 'fats', known are full, fast; did you mean 'fast'"):
        inspect(folder, loop="fats")


def test_a_checkpoint_is_calibrated_once_fitted_numbers_lie_beside_it(tmp_path: Path) -> None:
    config = {"architectures": ["MMadaModelLM"]}
    folder = folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"])
    assert not inspect(folder).calibrated
    (folder / "profile.json").write_text('{"calibrated": true}')
    assert inspect(folder).calibrated


def test_a_checkpoint_may_name_another_of_its_familys_loops(tmp_path: Path) -> None:
    config = {"architectures": ["MMadaModelLM"], "seer": {"loop": "fast"}}
    info = inspect(folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"]))
    assert info.loop.stop == "block_end"
    assert info.family.loop.stop == "none"


def test_a_missing_size_is_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, {"architectures": ["LLaDAModelLM"]}, ["model.transformer.blocks.0.ff_proj.weight"])
    with pytest.raises(ConfigError, match=r"config\.json lacks 'd_model'"):
        load_decoder(folder)


def test_ids_come_from_the_config_where_it_has_them_else_from_the_family(tmp_path: Path) -> None:
    config = {"architectures": ["LLaDAModelLM"], "mask_token_id": 7, "pad_token_id": None, "eos_token_id": 8}
    roles = inspect(folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"])).roles
    assert (roles.mask_id, roles.fill_id) == (7, 8)
    assert roles.end_ids == {8, 126348}


def test_control_tokens_of_the_prompt_form_never_come_out_of_text() -> None:
    processor = load_processor(CHECKPOINT)
    for name in processor.template.controls:
        assert processor.tokenizer.control(name) not in processor.tokenizer.encode(name)


@pytest.mark.parametrize(
    ("stated", "fast", "dtype"),
    [
        ({}, True, torch.bfloat16),
        ({"torch_dtype": "bfloat16"}, True, torch.bfloat16),
        ({"torch_dtype": "bfloat16"}, False, torch.float32),
        ({"dtype": "float32"}, True, torch.float32),
        ({"torch_dtype": "float16"}, True, torch.float32),
    ],
)
def test_a_cpu_takes_the_checkpoints_bfloat16_where_it_is_fast_and_float32_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: dict[str, str], fast: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(precision, "bfloat16_keeps_up", lambda: fast)
    config = {"architectures": ["MMadaModelLM"], **stated}
    info = inspect(folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"]))
    assert default_dtype(info, "cpu") is dtype


def test_a_gpu_takes_the_dtype_that_is_stated_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    names = ["model.transformer.blocks.0.ff_proj.weight"]
    half = {"architectures": ["MMadaModelLM"], "torch_dtype": "float16"}
    assert default_dtype(inspect(folder_with(tmp_path, half, names)), "cuda") is torch.float16
    odd = inspect(folder_with(tmp_path, {**half, "torch_dtype": "int4"}, names))
    with pytest.raises(ConfigError, match="int4"):
        default_dtype(odd, "cuda")


def test_an_image_tokenizer_that_is_named_must_be_there(tmp_path: Path) -> None:
    config = {"architectures": ["MMadaModelLM"], "seer": {"image_codes": "eyes"}}
    with pytest.raises(ConfigError, match=r"no image tokenizer folder .*eyes"):
        inspect(folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"]))


def test_an_image_tokenizer_beside_the_weights_is_found(tmp_path: Path) -> None:
    config = {"architectures": ["MMadaModelLM"]}
    names = ["model.transformer.blocks.0.ff_proj.weight"]
    assert inspect(folder_with(tmp_path, config, names)).image_rule is None
    (tmp_path / "magvit").mkdir()
    assert inspect(tmp_path).image_rule == Framing()


def test_an_unknown_way_to_frame_an_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "magvit").mkdir()
    config = {"architectures": ["MMadaModelLM"], "seer": {"image_fit": "stretch"}}
    info = inspect(folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight"]))
    with pytest.raises(ConfigError, match="'stretch'; known are crop and squash"):
        _ = info.image_rule


def test_a_preprocessor_that_cuts_other_patches_than_the_tower_takes_is_refused(tmp_path: Path) -> None:
    names = [
        "model.layers.0.mlp.gate_proj.weight",
        "model.layers.0.self_attn.q_proj.bias",
        "visual.patch_embed.proj.weight",
    ]
    folder = folder_with(tmp_path, {"architectures": ["DimpleModel"], "vision_config": {"patch_size": 14}}, names)
    assert inspect(folder).image_rule == Patching()
    (folder / "preprocessor_config.json").write_text(json.dumps({"patch_size": 16}))
    with pytest.raises(ConfigError, match=r"cuts patches \(16, 2, 2\), the tower takes \(14, 2, 2\)"):
        _ = inspect(folder).image_rule


def test_a_published_tower_is_known_by_its_name_without_torch(tmp_path: Path) -> None:
    config = {
        "architectures": ["LlavaLladaForMaskedDiffusion"],
        "mm_vision_tower": "google/siglip-so400m-patch14-384",
        "image_aspect_ratio": "anyres",
        "image_grid_pinpoints": "[(384, 768), (768, 384)]",
    }
    folder = folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight", "model.mm_projector.0.weight"])
    code = (
        "import sys; from pathlib import Path; from seer_core.families.registry import inspect;"
        "rule = inspect(Path(sys.argv[1])).image_rule; assert (rule.tile_px, rule.side_tokens) == (384, 14);"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == 0


def test_a_missing_tiling_field_is_named(tmp_path: Path) -> None:
    config = {"architectures": ["LlavaLladaForMaskedDiffusion"], "mm_vision_tower": "so400m-patch14-384"}
    folder = folder_with(tmp_path, config, ["model.transformer.blocks.0.ff_proj.weight", "model.mm_projector.0.weight"])
    with pytest.raises(ConfigError, match="lacks 'image_grid_pinpoints'"):
        _ = inspect(folder).image_rule
