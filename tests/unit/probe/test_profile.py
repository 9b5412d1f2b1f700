from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seer_core.errors import ProfileError
from seer_core.probe.profile import CalibratedRule, DualRule, FirstEndRule, PaperRule, Profile, Readout, SmartCropRule
from seer_core.probe.profile_file import load_profile, save_profile

PROFILE = Profile(
    fingerprint="0123456789abcdef",
    default_detector="readout",
    paper=PaperRule(layer=1, tensor="gate", eps=0.02, tau_jump=0.05, gamma=0.5, window=4, margin_tokens=1),
    readout=Readout(layer=2, tensor="product", weights=(0.1, -2.5, 3e-9), bias=-0.3, margin_tokens=3),
    calibrated=True,
    provenance={"prompts": 300, "canvas": "8..64", "seconds": 12.5},
    calibrated_rule=CalibratedRule(
        layer=1, tensor="mlp", eps=0.2, tau_jump=0.12, gamma=1.5, baseline=(0.3, 0.25), shift_tokens=1, margin_tokens=2
    ),
    first_end=FirstEndRule(margin_tokens=4),
    smartcrop=SmartCropRule(threshold=0.99, margin_tokens=5),
    dual=DualRule(activation="readout", threshold=0.8, agree_tokens=1, margin_tokens=6),
)


def edited(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    save_profile(PROFILE, path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path


def without(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        for name in names:
            del data[name]

    return change


def test_a_saved_profile_loads_as_it_was(tmp_path: Path) -> None:
    save_profile(PROFILE, tmp_path / "profile.json")
    assert load_profile(tmp_path / "profile.json", fingerprint=PROFILE.fingerprint) == PROFILE


def test_a_profile_without_readout_needs_no_second_file(tmp_path: Path) -> None:
    plain = Profile(fingerprint="x")
    save_profile(plain, tmp_path / "profile.json")
    assert load_profile(tmp_path / "profile.json") == plain
    assert [path.name for path in tmp_path.iterdir()] == ["profile.json"]


def test_the_papers_numbers_are_the_defaults() -> None:
    rule = PaperRule()
    assert (rule.layer, rule.eps, rule.tau_jump, rule.gamma, rule.window) == (3, 1e-3, 0.03, 0.6, 3)
    assert rule.margin_tokens == 0
    assert not Profile(fingerprint="x").calibrated


def test_each_detector_has_its_own_margin_and_the_probe_runs_to_the_deepest_tap() -> None:
    names = ("paper", "calibrated", "readout", "first_end", "smartcrop", "dual", "none", "oracle")
    assert [PROFILE.margin_of(name) for name in names] == [1, 2, 3, 4, 5, 6, 0, 0]
    assert PROFILE.depth == 3


LATER = ("calibrated_rule", "first_end", "smartcrop", "dual")


def test_a_file_from_before_these_detectors_still_loads(tmp_path: Path) -> None:
    old = edited(tmp_path / "profile.json", without(*LATER))
    loaded = load_profile(old)
    assert (loaded.paper, loaded.readout, loaded.calibrated_rule) == (PROFILE.paper, PROFILE.readout, None)
    assert loaded.smartcrop == SmartCropRule(threshold=0.95, margin_tokens=0)


def test_each_later_section_may_be_missing_by_itself(tmp_path: Path) -> None:
    for name in LATER:
        loaded = load_profile(edited(tmp_path / "profile.json", without(name)))
        assert getattr(loaded, name) == getattr(Profile(fingerprint="x"), name)


def test_another_checkpoint_is_refused(tmp_path: Path) -> None:
    save_profile(PROFILE, tmp_path / "profile.json")
    with pytest.raises(ProfileError, match="0123456789abcdef") as raised:
        load_profile(tmp_path / "profile.json", fingerprint="feedfeedfeedfeed")
    assert raised.value.field == "fingerprint"


CHANGES: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("tau", lambda d: d.update(tau=1), "unknown profile field tau"),
    ("paper.gama", lambda d: d["paper"].update(gama=1), "did you mean paper.gamma"),
    ("readout.bias", lambda d: d["readout"].update(bias=1.0), "unknown profile field readout.bias"),
    ("calibrated", lambda d: d.pop("calibrated"), "calibrated is missing"),
    ("paper.eps", lambda d: d["paper"].pop("eps"), "paper.eps is missing"),
    ("paper.eps", lambda d: d["paper"].update(eps=0), "paper.eps must be a number above 0"),
    ("paper.layer", lambda d: d["paper"].update(layer=1.5), "paper.layer must be a whole number"),
    ("paper.window", lambda d: d["paper"].update(window=True), "paper.window must be a whole number"),
    ("paper.tensor", lambda d: d["paper"].update(tensor="up"), "paper.tensor must be one of gate, product, mlp"),
    ("readout.margin_tokens", lambda d: d["readout"].update(margin_tokens=-1), "readout.margin_tokens must be"),
    ("default_detector", lambda d: d.update(default_detector="oracle"), "default_detector must be one of"),
    ("default_detector", lambda d: d.update(readout=None), "it has no readout"),
    ("default_detector", lambda d: d.update(default_detector="fixed:8"), "default_detector must be one of"),
    (
        "default_detector",
        lambda d: d.update(default_detector="calibrated", calibrated_rule=None),
        "it has no calibrated rule",
    ),
    ("dual.activation", lambda d: d["dual"].update(activation="smartcrop"), "one of paper, calibrated, readout"),
    ("dual.activation", lambda d: d.update(default_detector="paper", readout=None), "it has no readout"),
    ("dual.agree_tokens", lambda d: d["dual"].update(agree_tokens=-1), "a whole number of at least 0"),
    ("smartcrop.threshold", lambda d: d["smartcrop"].update(threshold=1.0), "a number between 0 and 1"),
    ("smartcrop.treshold", lambda d: d["smartcrop"].update(treshold=0.5), "did you mean smartcrop.threshold"),
    ("smartcrop.margin_tokens", lambda d: d["smartcrop"].pop("margin_tokens"), "margin_tokens is missing"),
    ("first_end.margin_tokens", lambda d: d["first_end"].update(margin_tokens=0.5), "a whole number of at least 0"),
    ("first_end", lambda d: d.update(first_end=None), "first_end must be an object"),
    ("calibrated_rule.baseline", lambda d: d["calibrated_rule"].update(baseline=[]), "a list of finite numbers"),
    ("calibrated_rule.relapse", lambda d: d["calibrated_rule"].update(relapse=2), "a number from 0 to 1"),
    ("calibrated_rule.tau_jump", lambda d: d["calibrated_rule"].update(tau_jump=0), "a number above 0"),
    ("smartcrop_rule", lambda d: d.update(smartcrop_rule={}), "unknown profile field smartcrop_rule"),
    ("version", lambda d: d.update(version=2), "version 2"),
    ("paper", lambda d: d.update(paper=[]), "paper must be an object"),
    ("calibrated", lambda d: d.update(calibrated="yes"), "calibrated must be true or false"),
    ("provenance", lambda d: d.update(provenance=[1]), "provenance must be"),
    ("readout.weights", lambda d: d["readout"].update(weights="../w.safetensors"), "must name a file beside it"),
    ("readout.weights", lambda d: d["readout"].update(weights="gone.safetensors"), "cannot be read"),
]


@pytest.mark.parametrize(("field", "change", "message"), CHANGES, ids=[f"{f}: {m}" for f, _, m in CHANGES])
def test_a_wrong_profile_is_refused_by_the_name_of_its_field(
    tmp_path: Path, field: str, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    path = edited(tmp_path / "profile.json", change)
    with pytest.raises(ProfileError, match=message) as raised:
        load_profile(path)
    assert raised.value.field == field


@pytest.mark.parametrize("text", ["", "{", "[1]", '"profile"'])
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "profile.json").write_text(text)
    with pytest.raises(ProfileError, match=r"profile\.json"):
        load_profile(tmp_path / "profile.json")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read"):
        load_profile(tmp_path / "none.json")


def test_readout_weights_that_are_no_safetensors_are_refused(tmp_path: Path) -> None:
    save_profile(PROFILE, tmp_path / "profile.json")
    (tmp_path / "profile.safetensors").write_bytes(b"not a tensor")
    with pytest.raises(ProfileError, match="cannot be read"):
        load_profile(tmp_path / "profile.json")
