from __future__ import annotations

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.rivals.methods import METHODS, methods_named

ASKED = (
    *("fixed", "early_stop", "daedal", "fastdllm_prefix", "fastdllm_dual", "seer", "paper", "readout"),
    *("seer_fastdllm_dual", "smartcrop", "first_end", "dual", "oracle"),
)


def test_the_published_methods_are_there() -> None:
    assert set(ASKED) <= METHODS.keys()


def test_the_baseline_always_comes_and_comes_first() -> None:
    assert [method.name for method in methods_named(["oracle", "daedal"])] == ["fixed", "daedal", "oracle"]


def test_an_unknown_method_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'daedal'"):
        methods_named(["deadal"])


def test_plain_methods_do_nothing_but_truncate() -> None:
    plain = {name for name, method in METHODS.items() if method.plain}
    assert plain == {"seer", "paper", "readout", "smartcrop", "first_end", "dual", "oracle", "oracle_free"}
