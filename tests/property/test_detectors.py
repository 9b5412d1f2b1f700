"""What holds of every detector on any evidence: boundaries lie on the canvas, and the paper's is bit for bit."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.detectors import DETECTORS, forecast_from
from seer_core.probe.profile import CalibratedRule, DualRule, Profile, Readout
from seer_core.probe.statistic import Evidence

SHARES = st.integers(0, 64).map(lambda count: count / 64)


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    canvas = draw(st.integers(1, 40))
    column = st.lists(SHARES, min_size=canvas, max_size=canvas).map(np.array)
    return Evidence(
        canvas_tokens=canvas,
        sparsity=draw(column),
        units=64,
        centred=draw(column) - 0.5,
        scores=20 * draw(column) - 10,
        end_probability=draw(column),
        end_likeliest=draw(column) > 0.7,
    )


def published(s: list[float]) -> int | None:
    """The rule as it was published, in its own words and numbers."""
    for i in range(1, len(s) - 2):
        window = (s[i], s[i + 1], s[i + 2])
        jump, noise = min(window) - s[i - 1], max(window) - min(window)
        if jump >= 0.03 and noise <= 0.6 * jump:
            return i
    return None


def profile(margin: int, activation: str) -> Profile:
    return Profile(
        fingerprint="f",
        readout=Readout(layer=0, tensor="mlp", weights=(1.0,), bias=0.0, margin_tokens=margin),
        calibrated_rule=CalibratedRule(
            layer=0, tensor="mlp", eps=0.1, tau_jump=0.05, gamma=2.0, baseline=(0.0,), margin_tokens=margin
        ),
        dual=DualRule(activation=activation, threshold=0.5, margin_tokens=margin),
    )


@given(
    evidence(),
    st.sampled_from(sorted(DETECTORS)),
    st.integers(0, 5),
    st.sampled_from(["paper", "calibrated", "readout"]),
)
def test_a_boundary_lies_on_the_canvas_and_its_slot_is_kept(
    seen: Evidence, name: str, margin: int, activation: str
) -> None:
    found = forecast_from(seen, profile(margin, activation), name)
    assert found.boundary is None or 0 <= found.boundary < found.length_tokens <= seen.canvas_tokens
    assert (found.boundary is None) == found.fallback
    assert found.boundary is not None or found.length_tokens == seen.canvas_tokens
    json.dumps(asdict(found), allow_nan=False)


@given(evidence(), st.integers(0, 60))
def test_the_oracle_is_exact(seen: Evidence, end: int) -> None:
    found = forecast_from(seen, profile(3, "paper"), f"oracle:{end}")
    on_canvas = end < seen.canvas_tokens
    assert found.boundary == (end if on_canvas else None)
    assert found.length_tokens == (end + 1 if on_canvas else seen.canvas_tokens)


@given(evidence(), st.integers(1, 60))
def test_a_fixed_length_is_kept_as_far_as_the_canvas_goes(seen: Evidence, length: int) -> None:
    assert forecast_from(seen, profile(3, "paper"), f"fixed:{length}").length_tokens == min(length, seen.canvas_tokens)


@given(evidence())
def test_the_paper_detector_is_the_papers_rule_bit_for_bit(seen: Evidence) -> None:
    assert seen.sparsity is not None
    found = forecast_from(seen, Profile(fingerprint="f"), "paper")
    boundary = published(seen.sparsity.tolist())
    assert found.boundary == boundary
    assert found.length_tokens == (seen.canvas_tokens if boundary is None else boundary + 1)
