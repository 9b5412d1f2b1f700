"""The memory the README states is what the published sizes make, and the keys a configuration allows hold its rows."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.golden.published import SIZES, need_of

ROOT = Path(__file__).parents[2]
TOKENS = {"llada_v": 4096, "mmada": 1280, "dimple": 1408}
"""Of a prompt with one image and its canvas, where that is more than 1024."""


@pytest.mark.parametrize("family", SIZES)
def test_the_readme_states_the_memory_of_each_family(family: str) -> None:
    need, tokens = need_of(family), TOKENS.get(family, 1024)
    config = yaml.safe_load((ROOT / "examples" / "serve_configs" / f"{family}.yaml").read_text())
    args = config["applications"][0]["args"]
    rows, keys = args["max_rows"], args["key_memory_gib"]
    assert rows * tokens * need.token <= keys * 2**30
    decoder, eyes = need.decoder / 2**30, need.eyes / 2**30
    row = (
        f"| `{family}` | {decoder:.1f} + {eyes:.1f} | {need.token // 2**10} KiB | {decoder:.1f} + {keys} "
        f"| {rows} x {tokens} | {2 * decoder + eyes + keys:.1f} |"
    )
    assert row in (ROOT / "README.md").read_text()
