from __future__ import annotations

from dataclasses import replace

import pytest

from seer_core.config import LoopFacts
from seer_core.errors import ConfigError
from seer_core.probe.probe import Probe
from seer_core.probe.profile import PaperRule, Profile
from seer_core.tools.rivals.methods import METHODS
from seer_core.tools.rivals.quality import requests_of
from seer_core.tools.rivals.track import methods_on
from tests.unit.tools.rivals.tiny_track import tiny_samples, tiny_track

CANVAS = 16
REQUESTS = requests_of(tiny_samples(3), CANVAS)


def test_oracles_keep_the_true_end_and_the_whole_canvas_where_there_is_none() -> None:
    for name in ("oracle", "oracle_free"):
        foreseen = tiny_track(2).foresee(METHODS[name], REQUESTS, [4, None, 0])
        assert [each.forecast.length_tokens for each in foreseen] == [5, CANVAS, 1]


def test_methods_that_do_not_truncate_keep_the_whole_canvas() -> None:
    for name in ("fixed", "early_stop", "fastdllm_prefix", "fastdllm_dual"):
        foreseen = tiny_track(2).foresee(METHODS[name], REQUESTS, [None] * 3)
        assert {each.forecast.length_tokens for each in foreseen} == {CANVAS}


@pytest.mark.parametrize("name", ["seer", "daedal", "seer_fastdllm_dual"])
def test_an_attempt_is_the_same_on_every_track(name: str) -> None:
    narrow, wide = (tiny_track(rows).attempt(METHODS[name], REQUESTS, [None] * 3) for rows in (1, 3))
    assert [one.outcome.tokens for one in narrow] == [one.outcome.tokens for one in wide]
    assert [one.outcome.steps for one in narrow] == [one.outcome.steps for one in wide]


def test_a_checkpoint_on_which_daedal_cannot_run_says_so() -> None:
    track = replace(tiny_track(1), daedal={})
    with pytest.raises(ConfigError, match="leave it out"):
        track.attempt(METHODS["daedal"], REQUESTS, [None] * 3)


def test_daedal_is_left_out_where_it_cannot_run_and_refused_by_name() -> None:
    probe, shifted = tiny_track(1).stages.probe, LoopFacts(shifted=True)
    assert methods_on(probe, LoopFacts(), None) == tuple(METHODS)
    assert set(METHODS) - set(methods_on(probe, shifted, None)) == {"daedal", "daedal_16"}
    assert methods_on(probe, shifted, ["seer"]) == ("seer",)
    with pytest.raises(ConfigError, match="daedal_16 cannot run"):
        methods_on(probe, shifted, ["seer", "daedal_16"])


def test_a_detector_is_left_out_where_the_profile_has_no_numbers_for_it() -> None:
    probe = tiny_track(1).stages.probe
    blank = Probe(probe.model, probe.roles, Profile(fingerprint="tiny", paper=PaperRule(layer=0)), loop=probe.loop)
    assert set(METHODS) - set(methods_on(blank, LoopFacts(), None)) == {"readout"}
