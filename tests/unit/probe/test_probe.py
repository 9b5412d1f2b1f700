from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from seer_core.config import LoopFacts
from seer_core.errors import InvalidRequest, ProfileError
from seer_core.layers.attention import Behind, Remembering
from seer_core.models.multimodal import MultimodalModel
from seer_core.probe.cost import WHOLE_STEP, Cost
from seer_core.probe.detectors import DETECTORS
from seer_core.probe.probe import Probe
from seer_core.probe.profile import DETECTOR_NAMES, CalibratedRule, PaperRule, Profile, Readout
from seer_core.probe.statistic import Evidence
from seer_core.types import Decoding
from tests.unit.probe.tiny import ROLES, random_prompt, tiny_model

WEIGHTS = tuple(np.linspace(-1, 1, 48).astype(np.float32).tolist())
PROFILE = Profile(
    fingerprint="tiny",
    paper=PaperRule(layer=1, tensor="product", eps=2e-2, tau_jump=0.01, gamma=2.0, margin_tokens=0),
    readout=Readout(layer=1, tensor="product", weights=WEIGHTS, bias=0.01, margin_tokens=2),
)
SHALLOW = replace(
    PROFILE,
    paper=replace(PROFILE.paper, layer=2),
    calibrated_rule=CalibratedRule(
        layer=0, tensor="mlp", eps=2e-2, tau_jump=0.01, gamma=2.0, baseline=(0.125, 0.25), plateau_tokens=0
    ),
)
ALL = ["paper", "calibrated", "readout", "first_end", "smartcrop", "dual", "oracle:3", "fixed:5", "none"]


def probe(profile: Profile = PROFILE, *, prefix_lm: bool = True) -> Probe:
    return Probe(tiny_model(), ROLES, profile, loop=LoopFacts(prefix_lm=prefix_lm))


def same(a: Evidence, b: Evidence) -> None:
    assert a.scores is not None
    assert b.scores is not None
    assert a.sparsity is not None
    assert b.sparsity is not None
    np.testing.assert_allclose(a.scores, b.scores, atol=1e-5)
    # A unit whose magnitude lies within rounding of eps may fall on either side.
    np.testing.assert_allclose(a.sparsity, b.sparsity, atol=1.01 / a.units)
    assert np.mean(a.sparsity != b.sparsity) < 0.05


@pytest.mark.parametrize("prefix_lm", [True, False])
def test_padding_and_neighbours_change_no_row(prefix_lm: bool) -> None:
    prompts = [random_prompt(length, seed) for seed, length in enumerate((5, 17, 1, 9))]
    canvases = [16, 3, 32, 8]
    together = probe(prefix_lm=prefix_lm).observe(prompts, canvases)
    for prompt, canvas, seen in zip(prompts, canvases, together, strict=True):
        (alone,) = probe(prefix_lm=prefix_lm).observe([prompt], [canvas])
        assert seen.canvas_tokens == canvas
        same(alone, seen)


def test_poison_in_a_neighbours_prompt_reaches_no_other_row() -> None:
    poisoned = random_prompt(9, 1)
    poisoned.embeddings.fill_(float("nan"))
    clean, _ = probe().observe([random_prompt(4, 0), poisoned], [8, 8])
    (alone,) = probe().observe([random_prompt(4, 0)], [8])
    same(alone, clean)


def slow_curves(model: MultimodalModel, prompt: Tensor, canvas: int, *, prefix_lm: bool) -> Tensor:
    """|a| at the tap from one unpadded run over prompt and canvas; a prefix-LM prompt does not see the canvas."""
    decoder, length = model.decoder, len(prompt)
    masks = decoder.embed(torch.full((1, canvas), ROLES.mask_id))
    seen: list[Tensor] = []

    def observe(layer: int, name: str, value: Tensor) -> None:
        if (layer, name) == (1, "product"):
            seen.append(value[0, -canvas:].abs())

    if prefix_lm:
        prompt_keys = Remembering()
        decoder.run(prompt[None], torch.arange(length)[None], attend=prompt_keys)
        decoder.run(
            masks, torch.arange(length, length + canvas)[None], attend=Behind(prompt_keys.kept), observe=observe
        )
    else:
        decoder.run(torch.cat((prompt[None], masks), 1), torch.arange(length + canvas)[None], observe=observe)
    return seen[0]


@pytest.mark.parametrize("prefix_lm", [True, False])
def test_the_evidence_is_that_of_a_whole_run_over_prompt_and_masks(prefix_lm: bool) -> None:
    prompt = random_prompt(7, 3)
    (seen,) = probe(prefix_lm=prefix_lm).observe([prompt], [12])
    magnitudes = slow_curves(tiny_model(), prompt.embeddings, 12, prefix_lm=prefix_lm)
    expected = Evidence(
        canvas_tokens=12,
        sparsity=(magnitudes < 2e-2).double().mean(-1).numpy(),
        units=48,
        scores=(magnitudes @ torch.tensor(WEIGHTS) + 0.01).double().numpy(),
    )
    same(expected, seen)


def test_only_the_layers_up_to_the_tap_are_run() -> None:
    checked = probe()
    for index in range(PROFILE.depth, 3):
        checked.model.decoder.blocks[index] = torch.nn.Identity()  # would fail if called
    assert checked.observe([random_prompt(4, 0)], [8])[0].canvas_tokens == 8


@pytest.mark.parametrize(("detector", "layers"), [("calibrated", 1), ("readout", 2), ("paper", 3), ("smartcrop", 3)])
def test_a_detector_runs_no_layer_beyond_its_own(detector: str, layers: int) -> None:
    checked = probe(SHALLOW)
    for index in range(layers, 3):
        checked.model.decoder.blocks[index] = torch.nn.Identity()  # would fail if called
    (forecast,) = checked.forecast([random_prompt(4, 0)], [8], [Decoding(detector=detector)])
    assert (forecast.detector, forecast.canvas_tokens) == (detector, 8)


def test_the_head_is_run_only_where_a_detector_reads_it() -> None:
    checked = probe(SHALLOW)
    checked.model.decoder.head.weight.fill_(float("nan"))
    named = [Decoding(detector=name) for name in ALL[:3]]
    forecasts = checked.forecast([random_prompt(4, s) for s in range(3)], [8] * 3, named)
    assert all(np.isfinite(forecast.score) for forecast in forecasts)
    (blind,) = checked.forecast([random_prompt(4, 0)], [8], [Decoding(detector="smartcrop")])
    assert blind.fallback


def test_detectors_of_every_cost_share_a_batch_and_answer_as_they_do_alone() -> None:
    prompts = [random_prompt(3 + s, s) for s in range(len(ALL))]
    canvases, decodings = [8 + 2 * s for s in range(len(ALL))], [Decoding(detector=name) for name in ALL]
    together = probe(SHALLOW).forecast(prompts, canvases, decodings)
    for n, seen in enumerate(together):
        (alone,) = probe(SHALLOW).forecast([prompts[n]], [canvases[n]], [decodings[n]])
        assert (seen.detector, seen.boundary, seen.length_tokens) == (
            alone.detector,
            alone.boundary,
            alone.length_tokens,
        )
        assert seen.score == pytest.approx(alone.score, abs=1e-4)


def test_the_end_probabilities_are_those_of_a_whole_run() -> None:
    prompt = random_prompt(7, 3)
    short, long = probe().observe([random_prompt(4, 0), prompt], [5, 12], WHOLE_STEP)
    decoder = tiny_model().decoder
    prompt_keys = Remembering()
    decoder.run(prompt.embeddings[None], torch.arange(7)[None], attend=prompt_keys)
    masks = decoder.embed(torch.full((1, 12), ROLES.mask_id))
    hidden = decoder.run(masks, torch.arange(7, 19)[None], attend=Behind(prompt_keys.kept))
    expected = decoder.logits(hidden)[0].double().softmax(-1)[:, [29, 30]].sum(-1)
    assert short.end_probability is not None
    assert long.end_probability is not None
    assert len(short.end_probability) == 5
    np.testing.assert_allclose(long.end_probability, expected.numpy(), atol=1e-6)


def test_the_baseline_is_taken_off_position_by_position() -> None:
    (seen,) = probe(SHALLOW).observe([random_prompt(4, 0)], [6], Cost(layers=1))
    (bare,) = probe(replace(PROFILE, paper=replace(PROFILE.paper, layer=0, tensor="mlp"))).observe(
        [random_prompt(4, 0)], [6], Cost(layers=1)
    )
    assert seen.centred is not None
    assert bare.sparsity is not None
    np.testing.assert_allclose(bare.sparsity - seen.centred, [0.125, 0.25, 0.25, 0.25, 0.25, 0.25], atol=1e-12)
    assert (seen.sparsity, seen.scores, seen.end_probability) == (None, None, None)


def test_no_truncation_asked_means_the_whole_canvas_and_no_model_run() -> None:
    checked = probe()
    checked.model.decoder.blocks[0] = torch.nn.Identity()  # would fail if called
    decodings = [Decoding(truncate=False), Decoding(detector="none"), Decoding(truncate=False, detector="paper")]
    forecasts = checked.forecast([random_prompt(4, 0)] * 3, [8, 16, 32], decodings)
    assert [(f.length_tokens, f.fallback, f.detector) for f in forecasts] == [
        (8, True, "none"),
        (16, True, "none"),
        (32, True, "none"),
    ]


def test_forecasts_keep_the_order_of_the_requests() -> None:
    decodings = [Decoding(detector="readout"), Decoding(truncate=False), Decoding(detector="paper"), Decoding()]
    forecasts = probe().forecast([random_prompt(4, s) for s in range(4)], [8, 16, 24, 32], decodings)
    assert [f.canvas_tokens for f in forecasts] == [8, 16, 24, 32]
    assert [f.detector for f in forecasts] == ["readout", "none", "paper", "paper"]


def test_a_readout_that_sees_an_end_everywhere_keeps_the_margin() -> None:
    assert PROFILE.readout is not None
    eager = replace(PROFILE, readout=replace(PROFILE.readout, bias=100.0))
    (forecast,) = probe(eager).forecast([random_prompt(4, 0)], [16], [Decoding(detector="readout")])
    assert (forecast.boundary, forecast.length_tokens, forecast.fallback) == (0, 3, False)
    assert (forecast.jump, forecast.noise, forecast.snr) == (0.0, 0.0, 0.0)


def test_a_readout_that_sees_no_end_keeps_the_canvas() -> None:
    assert PROFILE.readout is not None
    blind = replace(PROFILE, readout=replace(PROFILE.readout, bias=-100.0))
    (forecast,) = probe(blind).forecast([random_prompt(4, 0)], [16], [Decoding(detector="readout")])
    assert (forecast.boundary, forecast.length_tokens, forecast.fallback) == (None, 16, True)


def test_a_paper_rule_that_always_fires_cuts_behind_the_second_position() -> None:
    trigger_happy = replace(PROFILE, paper=replace(PROFILE.paper, tau_jump=-1.0, gamma=1.0, eps=1e9))
    (forecast,) = probe(trigger_happy).forecast([random_prompt(4, 0)], [16], [Decoding()])
    assert (forecast.boundary, forecast.length_tokens) == (1, 2)


def test_an_unknown_detector_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidRequest, match="did you mean 'readout'") as raised:
        probe().forecast([random_prompt(4, 0)], [8], [Decoding(detector="redout")])
    assert raised.value.field == "detector"


def test_a_readout_without_weights_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no readout"):
        probe(replace(PROFILE, readout=None)).forecast([random_prompt(4, 0)], [8], [Decoding(detector="readout")])


def test_a_profile_deeper_than_the_model_is_refused() -> None:
    with pytest.raises(ProfileError, match="taps layer 3, the model has 3 layers"):
        probe(replace(PROFILE, paper=replace(PROFILE.paper, layer=3)))


def test_a_readout_of_another_width_is_refused() -> None:
    assert PROFILE.readout is not None
    with pytest.raises(ProfileError, match="48 weights, mlp has 32 units"):
        probe(replace(PROFILE, readout=replace(PROFILE.readout, tensor="mlp")))


def test_the_curve_for_people_is_the_one_the_forecast_was_made_from() -> None:
    curve = probe().profile_curve(random_prompt(4, 0), 16, "readout")
    (forecast,) = probe().forecast([random_prompt(4, 0)], [16], [Decoding(detector="readout")])
    assert curve.forecast == forecast
    assert curve.evidence.sparsity is not None
    assert len(curve.evidence.sparsity) == 16


def test_a_profile_may_name_exactly_the_registered_detectors() -> None:
    assert tuple(DETECTORS) == DETECTOR_NAMES


def test_no_prompt_means_no_forecast() -> None:
    assert probe().forecast([], [], []) == []


@pytest.mark.parametrize("tensor", ["gate", "product", "mlp"])
@pytest.mark.parametrize("prefix_lm", [True, False])
def test_a_probe_that_stops_inside_its_last_layer_sees_what_one_that_ends_it_sees(tensor: Any, prefix_lm: bool) -> None:
    rule = replace(PROFILE.paper, tensor=tensor)
    for profile in (replace(PROFILE, paper=rule), replace(PROFILE, paper=rule, readout=None)):
        at, prompts, canvases = probe(profile, prefix_lm=prefix_lm), [random_prompt(5, 1), random_prompt(9, 2)], [16, 7]
        whole = at.observe(prompts, canvases)
        short = at.observe(prompts, canvases, DETECTORS["paper"].cost(profile))
        for one, other in zip(whole, short, strict=True):
            assert one.sparsity is not None
            assert other.sparsity is not None
            np.testing.assert_allclose(one.sparsity, other.sparsity, atol=1.01 / one.units)
            assert one.units == other.units
