"""Canvases begun too short on purpose: what is repaired, and what is squeezed."""

from __future__ import annotations

from seer_core.tools.cut_study import study_cuts
from seer_core.types import GenerationRequest, Message, Sampling
from tests.unit.tools.stand_ins import ScriptedStages


def requests(*texts: str) -> list[GenerationRequest]:
    messages = [(Message(role="user", text=text),) for text in texts]
    return [GenerationRequest(id=m[0].text, messages=m, sampling=Sampling(max_tokens=32)) for m in messages]


def test_answers_longer_than_the_cut_lose_so_many_tokens_and_are_held_against_their_whole_run() -> None:
    stages = ScriptedStages()
    one, six = study_cuts(stages, requests("5 -", "6 - squeezes", "9 -", "2 -"), [1, 6], progress=False)
    assert stages.runs == [[32] * 4, [4, 5, 8, 1], [3]]
    assert one == {"cut_tokens": 1, "rows": 4, "agreement": 0.75, "still_shorter": 0.25, "regrown": 0.75}
    assert (six["rows"], six["agreement"], six["still_shorter"]) == (1, 1.0, 0.0)


def test_where_no_answer_is_longer_there_is_no_share() -> None:
    (row,) = study_cuts(ScriptedStages(), requests("2 -"), [2], progress=False)
    assert (row["rows"], row["agreement"]) == (0, None)
