"""The application's arguments: wrong ones are refused by name before anything starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployments.app import build, checked
from deployments.local_service import check, read_config
from seer_core.errors import ConfigError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"max_row": 3}, "did you mean max_rows"),
        ({"max_rows": 0}, "max_rows"),
        ({"dtype": "int8"}, "dtype"),
        ({"router": {"max_waitin": 3}}, "router.max_waitin is unknown; did you mean max_waiting"),
        ({"router": {"max_waiting": 0}}, "max_waiting must be at least 1"),
        ({"model": "/nowhere/at/all"}, "/nowhere/at/all"),
        ({"family": "lavida_lada"}, "did you mean 'lavida_llada'"),
        ({"loop": "prefixed"}, "lavida_llada has no loop 'prefixed', known are prefix, full; did you mean 'prefix'"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(args: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        build(args)


def test_the_shipped_configuration_is_valid() -> None:
    config = read_config(ROOT / "serve_config.yaml", host=None, http_port=None, grpc_port=None)
    check(config)
    assert config["http_options"] == {"host": "127.0.0.1", "port": 8000}
    assert config["grpc_options"]["port"] == 9000


def test_an_address_given_by_hand_wins() -> None:
    config = read_config(ROOT / "serve_config.yaml", host="127.0.0.2", http_port=1, grpc_port=2)
    assert config["http_options"] == {"host": "127.0.0.2", "port": 1}
    assert config["grpc_options"]["port"] == 2


def test_a_wrong_argument_in_a_file_is_told_before_ray_starts(tmp_path: Path) -> None:
    config = yaml.safe_load((ROOT / "serve_config.yaml").read_text())
    config["applications"][0]["args"] = {"modle": "x"}
    with pytest.raises(ConfigError, match="did you mean model"):
        check(config)


def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "none.yaml", host=None, http_port=None, grpc_port=None)


def test_the_served_name_is_the_folder_s_or_the_given() -> None:
    assert checked({}).parts().model_name == "seer-embedded"
    assert checked({"model_name": "mine"}).parts().model_name == "mine"


def test_a_wrong_configuration_ends_the_program_without_starting_ray(tmp_path: Path) -> None:
    config = yaml.safe_load((ROOT / "serve_config.yaml").read_text())
    config["applications"][0]["args"] = {"model": "/nowhere"}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "deployments", "--config", str(tmp_path / "config.yaml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: there is no checkpoint in /nowhere: config.json is missing\n"
    assert done.stdout == ""
