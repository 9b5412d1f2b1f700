"""Short names for settings: two records have the same one where all their numbers are the same."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import blake2b

from seer_core.config import LoopFacts
from seer_core.probe.profile import Profile


def digest(settings: Profile | LoopFacts) -> str:
    """A name for the numbers of a profile, or of a loop."""
    plain = {name: sorted(v) if isinstance(v, frozenset) else v for name, v in asdict(settings).items()}
    return blake2b(repr(sorted(plain.items())).encode(), digest_size=8).hexdigest()
