from __future__ import annotations

import json

from seer_core.tools.rivals.report import machine


def test_the_machine_is_plain_json() -> None:
    assert json.loads(json.dumps(machine()))["threads"] >= 1
