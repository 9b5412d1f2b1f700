"""The shipped configurations, one for each family: they parse, and the application they describe can be built."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployments.app import build, checked
from deployments.local_service import check, read_config
from seer_core.embedded import CHECKPOINT
from seer_core.errors import ConfigError
from seer_core.families.detection import FAMILIES

CONFIGS = Path(__file__).parents[3] / "examples" / "serve_configs"
NAMES = [family.name for family in FAMILIES]


def config_of(family: str) -> dict[str, Any]:
    return read_config(CONFIGS / f"{family}.yaml", host=None, http_port=None, grpc_port=None)


def test_every_family_has_one() -> None:
    assert sorted(path.stem for path in CONFIGS.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("family", NAMES)
def test_it_names_its_family_and_what_serve_and_the_application_understand(family: str) -> None:
    from ray.serve.schema import ServeDeploySchema

    (application,) = ServeDeploySchema.model_validate(config_of(family)).applications
    args = checked(application.args)
    assert (args.family, args.dtype, args.device) == (family, "bfloat16", "cuda")
    assert {part.name for part in application.deployments} == {"Probe", "Worker"}


def test_a_device_that_this_machine_lacks_is_named_before_anything_starts(tmp_path: Path) -> None:
    shutil.copytree(CHECKPOINT, tmp_path / "model")
    config = config_of("lavida_llada")
    config["applications"][0]["args"] |= {"model": str(tmp_path / "model"), "device": "cuda:99"}
    with pytest.raises(ConfigError, match="cuda:99"):
        check(config)


def test_the_application_is_built_of_it_where_the_checkpoint_is_there(tmp_path: Path) -> None:
    shutil.copytree(CHECKPOINT, tmp_path / "model")
    config = config_of("lavida_llada")
    config["applications"][0]["args"] |= {"model": str(tmp_path / "model"), "device": "cpu"}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    (application,) = check(
        read_config(tmp_path / "config.yaml", host=None, http_port=None, grpc_port=None)
    ).applications
    assert build(application.args) is not None
    assert checked(application.args).parts().key_memory_bytes == 8 * 2**30
