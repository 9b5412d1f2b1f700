"""Whatever runs together answers as it would alone."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from seer_core.engine.commit import COMMITS
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Row
from seer_core.engine.remasking import REMASKING
from seer_core.engine.schedule import SCHEDULES
from seer_core.types import Decoding, Outcome, Sampling
from tests.unit.engine.stage import ROLES, make_engine, make_row, outcome_of, random_decoder, run_alone, run_dry

DECODINGS = st.builds(
    Decoding,
    steps_per_token=st.sampled_from([1.0, 0.5, 0.3]),
    block_length=st.sampled_from([None, 3, 8]),
    remasking=st.sampled_from(sorted(REMASKING)),
    schedule=st.sampled_from(sorted(SCHEDULES)),
    schedule_shift=st.sampled_from([0.33, 3.0]),
    commit=st.sampled_from(sorted(COMMITS)),
    commit_threshold=st.sampled_from([-2.0, 0.2, 0.9]),
    commit_factor=st.sampled_from([0.5, 1.0, 2.5]),
    cache=st.sampled_from(["exact", "exact", "fastdllm_prefix", "fastdllm_dual"]),
    guidance_scale=st.sampled_from([0.0, 0.0, 0.7]),
    early_exit=st.booleans(),
)
SAMPLINGS = st.builds(
    Sampling,
    max_tokens=st.integers(1, 40),
    temperature=st.sampled_from([0.0, 0.0, 0.8]),
    top_p=st.sampled_from([1.0, 0.9]),
    seed=st.integers(0, 5),
    stop=st.sampled_from([(), ("a",), ("b", "xy")]),
)


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    return [
        make_row(
            str(n),
            canvas=draw(st.integers(1, 24)),
            prompt_tokens=draw(st.integers(1, 12)),
            sampling=draw(SAMPLINGS),
            decoding=draw(DECODINGS),
        )
        for n in range(draw(st.integers(2, 4)))
    ]


def same(one: Outcome, other: Outcome) -> bool:
    """Equal but for the path, which does depend on the company."""
    return replace(one, path="eager") == replace(other, path="eager")


@given(rows(), st.integers(0, 3), st.booleans(), st.integers(0, 2), st.sampled_from([0, 32, 1000]))
@settings(max_examples=15)
def test_a_row_answers_together_as_it_does_alone(
    group: list[Row], late: int, prefix_lm: bool, seed: int, launch_tokens: int
) -> None:
    decoder = random_decoder(seed)
    config = EngineConfig(block_length=32, launch_tokens=launch_tokens)
    engine = make_engine(decoder, prefix_lm=prefix_lm, config=config)
    engine.admit(group[1:])
    early = [delta for _ in range(late) for delta in engine.step()]
    deltas = run_dry(engine, group[:1])
    for row in group:
        own = [delta for delta in early if delta.id == row.id] + deltas.get(row.id, [])
        assert same(outcome_of(own), run_alone(make_engine(decoder, prefix_lm=prefix_lm), row))


@given(rows(), st.integers(0, 2))
@settings(max_examples=15)
def test_no_answer_holds_a_mask_or_an_end_or_more_than_was_asked_for(group: list[Row], seed: int) -> None:
    for row in group:
        outcome = run_alone(make_engine(random_decoder(seed)), row)
        assert ROLES.mask_id not in outcome.tokens
        assert ROLES.end_ids.isdisjoint(outcome.tokens)
        assert outcome.usage.completion_tokens == len(outcome.tokens) <= outcome.kept_tokens <= row.sampling.max_tokens


@given(rows(), st.integers(0, 2))
@settings(max_examples=15)
def test_early_exit_changes_the_steps_and_nothing_else(group: list[Row], seed: int) -> None:
    for row in group:
        early, full = (
            run_alone(
                make_engine(random_decoder(seed)),
                replace(row, decoding=replace(row.decoding, early_exit=early_exit)),
            )
            for early_exit in (True, False)
        )
        assert early.steps <= full.steps
        assert same(replace(early, steps=full.steps), full)


@given(rows(), st.integers(0, 2))
@settings(max_examples=15)
def test_a_truncated_run_is_a_run_of_that_length_until_it_grows(group: list[Row], seed: int) -> None:
    for row in group:
        kept = min(row.forecast.length_tokens, row.sampling.max_tokens)
        fresh_row = replace(
            row,
            sampling=replace(row.sampling, max_tokens=kept),
            forecast=replace(row.forecast, length_tokens=kept, canvas_tokens=kept),
        )
        cut, fresh = (run_alone(make_engine(random_decoder(seed)), each) for each in (row, fresh_row))
        assert cut.text.startswith(fresh.text)
        if not cut.regrown:
            assert (cut.tokens, cut.steps, cut.finish_reason) == (fresh.tokens, fresh.steps, fresh.finish_reason)
        else:
            assert fresh.finish_reason == "length"
