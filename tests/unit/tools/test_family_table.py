"""The list of families that people see."""

from __future__ import annotations

from seer_core.tools.family_table import family_rows


def test_every_family_is_listed_with_what_it_supports() -> None:
    rows = {row["name"]: row for row in family_rows()}
    assert {"lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple", "llada", "dream"} == rows.keys()
    assert rows["mmada"]["templates"] == ["default", "evaluation"]
    assert rows["dimple"]["loops"] == ["dim", "dream"]
    assert [rows[name]["prompt_cache"] for name in ("lavida_dream", "dimple", "llada_v")] == [
        "before the first step",
        "after the first step",
        "none",
    ]
