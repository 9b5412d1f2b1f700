from __future__ import annotations

from dataclasses import replace

from seer_core.config import LoopFacts
from seer_core.probe.profile import PaperRule, Profile
from seer_core.tools.digest import digest


def test_a_profile_with_another_number_has_another_digest() -> None:
    profile = Profile(fingerprint="a")
    assert digest(profile) == digest(Profile(fingerprint="a"))
    assert digest(profile) != digest(replace(profile, paper=PaperRule(tau_jump=0.04)))


def test_a_loop_with_another_rule_has_another_digest() -> None:
    loop = LoopFacts(banned_ids=frozenset((9, 1, 5)))
    assert digest(loop) == digest(replace(loop, banned_ids=frozenset((5, 9, 1))))
    assert digest(loop) != digest(replace(loop, commit="threshold"))
