"""Each family's loop as settings: defaults that contradict each other would denoise as no reference does."""

from __future__ import annotations

import pytest

from seer_core.config import WHOLE_CANVAS, LoopFacts
from seer_core.engine.commit import COMMITS
from seer_core.engine.pace import PACES
from seer_core.engine.remasking import REMASKING
from seer_core.families.detection import FAMILIES
from seer_core.families.family import Family

LOOPS = [pytest.param(loop, id=f"{family.name}-{name}") for family in FAMILIES for name, loop in family.loops.items()]


@pytest.mark.parametrize("loop", LOOPS)
def test_settings_do_not_contradict_each_other(loop: LoopFacts) -> None:
    assert not (loop.prefix_lm and loop.cache_after_first_step)
    assert loop.first_token_from_prompt == (loop.prefix_lm and loop.shifted)  # nothing else predicts slot 0
    assert (loop.schedule == "even") == (loop.block_length < WHOLE_CANVAS)
    assert loop.schedule in PACES
    assert loop.commit in COMMITS
    assert loop.remasking in REMASKING


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_tokens_that_end_an_answer_are_not_the_mask_and_one_of_them_can_be_written(family: Family) -> None:
    ends = {family.fill_id, family.turn_end_id}
    assert family.mask_id not in ends
    assert ends - family.loop.banned_ids
