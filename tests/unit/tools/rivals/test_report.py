from __future__ import annotations

import json
from dataclasses import replace

from seer_core.probe.profile import PaperRule, Profile
from seer_core.tools.rivals.report import machine, profile_digest


def test_a_profile_with_another_number_has_another_digest() -> None:
    profile = Profile(fingerprint="a")
    assert profile_digest(profile) == profile_digest(Profile(fingerprint="a"))
    assert profile_digest(profile) != profile_digest(replace(profile, paper=PaperRule(tau_jump=0.04)))


def test_the_machine_is_plain_json() -> None:
    assert json.loads(json.dumps(machine()))["threads"] >= 1
