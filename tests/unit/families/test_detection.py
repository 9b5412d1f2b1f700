"""Detection: tensors first, the architecture next, an override last; and what is said where none decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from seer_core.errors import ConfigError, WeightsError
from seer_core.families.detection import FAMILIES, detect
from seer_core.families.family import Family

FOLDER = Path("checkpoint")
GATE = "model.layers.0.mlp.gate_proj.weight"
BIAS = "model.layers.0.self_attn.q_proj.bias"
FF = "model.transformer.blocks.0.ff_proj.weight"
PROJECTOR = "model.mm_projector.0.weight"
VISUAL = "visual.patch_embed.proj.weight"
LAYOUTS = {
    "lavida_llada": [FF, PROJECTOR],
    "lavida_dream": [GATE, BIAS, PROJECTOR],
    "llada_v": [GATE, PROJECTOR],
    "mmada": [FF],
    "dimple": [GATE, BIAS, VISUAL],
    "llada": [FF],
    "dream": [GATE, BIAS],
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_is_known_by_its_tensors_and_architecture(family: Family) -> None:
    for architecture in family.architectures:
        assert detect(FOLDER, {"architectures": [architecture]}, LAYOUTS[family.name]) is family


def test_a_shared_model_type_does_not_confuse() -> None:
    for name, architecture in (("llada_v", "LlavaLLaDAModelLM"), ("lavida_llada", "LlavaLladaForMaskedDiffusion")):
        fields = {"model_type": "llava_llada", "architectures": [architecture]}
        assert detect(FOLDER, fields, LAYOUTS[name]).name == name


def test_tensors_alone_suffice_where_only_one_family_has_them() -> None:
    assert detect(FOLDER, {}, LAYOUTS["dimple"]).name == "dimple"


def test_two_families_with_the_same_tensors_are_both_named() -> None:
    with pytest.raises(WeightsError, match=r"could be mmada or llada: .*say which"):
        detect(FOLDER, {}, LAYOUTS["llada"])


def test_an_autoregressive_model_with_a_familys_tensors_is_refused() -> None:
    with pytest.raises(WeightsError, match=r"Qwen2ForCausalLM.*model_type 'qwen2'.*gate_proj.*supported: lavida_llada"):
        detect(FOLDER, {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}, LAYOUTS["dream"])


def test_a_named_architecture_without_its_tensors_is_told_what_it_lacks() -> None:
    with pytest.raises(WeightsError, match=f"names DimpleModel and is no dimple checkpoint: it lacks {VISUAL}"):
        detect(FOLDER, {"architectures": ["DimpleModel"]}, LAYOUTS["dream"])


def test_an_override_wins_over_the_architecture_but_not_over_the_tensors() -> None:
    fields = {"architectures": ["MyFineTune"]}
    assert detect(FOLDER, fields, LAYOUTS["llada_v"], "llada_v").name == "llada_v"
    with pytest.raises(WeightsError, match=f"no llada_v checkpoint: it holds {BIAS}"):
        detect(FOLDER, fields, LAYOUTS["lavida_dream"], "llada_v")
    with pytest.raises(WeightsError, match=f"no dimple checkpoint: it lacks {VISUAL}"):
        detect(FOLDER, fields, LAYOUTS["dream"], "dimple")


def test_an_unknown_override_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'llada_v'"):
        detect(FOLDER, {}, LAYOUTS["llada_v"], "llada-v")
