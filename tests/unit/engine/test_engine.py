"""Rows in, text out: ends, growth, streams, cancellation and failures."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest
import torch

from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine, Row
from seer_core.engine.pace import PACES
from seer_core.errors import ContextLengthExceeded, EngineError, InvalidRequest
from seer_core.models.decoder import Decoder
from seer_core.prompt import EncodedPrompt
from seer_core.types import Decoding, Sampling
from tests.unit.engine.stage import (
    BYTES,
    ROLES,
    SIZES,
    ScriptedDecoder,
    decode,
    loop_of,
    make_engine,
    make_row,
    outcome_of,
    random_decoder,
    run_alone,
    run_dry,
    spell,
)

END = 45


def scripted(text: str, order: list[int] | None = None) -> Engine:
    return make_engine(ScriptedDecoder([*spell(text), END], order or []))


def poisoned(row: Row) -> Row:
    return replace(row, prompt=EncodedPrompt(embeddings=torch.full_like(row.prompt.embeddings, torch.nan)))


def test_the_answer_is_what_stands_before_the_first_end_token() -> None:
    outcome = run_alone(scripted("hello"), make_row(canvas=9))
    assert outcome.text == "hello"
    assert outcome.tokens == tuple(spell("hello"))
    assert outcome.finish_reason == "stop"
    assert (outcome.usage.prompt_tokens, outcome.usage.completion_tokens) == (1, 5)
    assert (outcome.forecast_tokens, outcome.canvas_tokens, outcome.kept_tokens) == (9, 64, 9)
    assert (outcome.regrown, outcome.detector, outcome.path) == (0, "paper", "eager")


def test_a_row_leaves_once_its_answer_is_complete() -> None:
    assert run_alone(scripted("hello"), make_row(canvas=32)).steps == 6


def test_fill_committed_first_ends_nothing() -> None:
    outcome = run_alone(scripted("abc", [5, 4, 3, 0, 1, 2]), make_row(canvas=6))
    assert outcome.text == "abc"
    assert outcome.steps == 6


def test_without_early_exit_every_slot_is_committed() -> None:
    row = make_row(canvas=32, decoding=Decoding(early_exit=False))
    outcome = run_alone(scripted("hello"), row)
    assert outcome.text == "hello"
    assert outcome.steps == 32


def test_an_answer_without_an_end_runs_to_max_tokens_and_says_so() -> None:
    outcome = run_alone(scripted("abcdefghijkl"), make_row(canvas=10, max_tokens=10))
    assert outcome.text == "abcdefghij"
    assert outcome.finish_reason == "length"


def test_a_cut_canvas_grows_bucket_by_bucket_until_the_answer_ends() -> None:
    outcome = run_alone(scripted("abcdefghijkl"), make_row(canvas=5))
    assert outcome.text == "abcdefghijkl"
    assert outcome.finish_reason == "stop"
    assert (outcome.kept_tokens, outcome.regrown) == (16, 2)


def test_growth_stops_at_max_tokens() -> None:
    outcome = run_alone(scripted("abcdefghijkl"), make_row(canvas=5, max_tokens=10))
    assert outcome.text == "abcdefghij"
    assert (outcome.kept_tokens, outcome.regrown, outcome.finish_reason) == (10, 2, "length")


def test_growth_appends_one_block_with_its_share_of_steps() -> None:
    row = make_row(canvas=16, decoding=Decoding(block_length=4, steps_per_token=0.5, early_exit=False))
    outcome = run_alone(scripted("abcdefghijklmnopq"), row)
    assert (outcome.kept_tokens, outcome.regrown, outcome.steps) == (20, 1, 10)


def test_a_grown_canvas_keeps_what_was_committed_and_sent() -> None:
    grown = 0
    for seed in range(8):
        row = make_row(canvas=4, max_tokens=40, decoding=Decoding(early_exit=False))
        cut_row = replace(row, sampling=Sampling(max_tokens=4))
        outcome, cut = (run_alone(make_engine(random_decoder(seed)), each) for each in (row, cut_row))
        assert outcome.tokens[: len(cut.tokens)] == cut.tokens
        assert outcome.text.startswith(cut.text)
        grown += outcome.regrown > 0
    assert grown >= 3


def test_text_streams_without_gaps_as_it_becomes_known() -> None:
    deltas = run_dry(scripted("abcd", [0, 2, 1, 3, 4]), [make_row(canvas=8)])["a"]
    assert [delta.text for delta in deltas] == ["a", "bc", "d", ""]


@pytest.mark.parametrize("schedule", sorted(PACES))
def test_a_canvas_of_one_slot_is_complete_with_the_token_from_its_prompt(schedule: str) -> None:
    loop = loop_of(shifted=True, first_token_from_prompt=True)
    engine = Engine(random_decoder(), ROLES, decode, EngineConfig(), loop=loop)
    outcome = run_alone(engine, make_row(canvas=1, max_tokens=1, decoding=Decoding(schedule=schedule)))
    assert (outcome.kept_tokens, outcome.steps) == (1, 0)


def test_an_answer_that_ends_with_the_token_from_its_prompt_is_given_at_once() -> None:
    class Silent(ScriptedDecoder):
        """Shifted: what it says of slot n stands at position n, and the prompt has one position."""

        def logits(self, hidden: torch.Tensor) -> torch.Tensor:
            return super().logits(hidden + 1)

    loop = loop_of(shifted=True, first_token_from_prompt=True)
    silent = Silent([END, *spell("abcdef")], [0, 6, 5, 4, 3, 2, 1])
    engine = Engine(silent, ROLES, decode, EngineConfig(), loop=loop)
    outcome = run_alone(engine, make_row(canvas=7))
    assert (outcome.text, outcome.finish_reason, outcome.steps) == ("", "stop", 1)


def test_a_stop_string_ends_the_answer_before_it() -> None:
    row = make_row(canvas=20, sampling=Sampling(max_tokens=64, stop=("lo w",)))
    outcome = run_alone(scripted("hello world"), row)
    assert (outcome.text, outcome.finish_reason) == ("hel", "stop")
    assert outcome.tokens == tuple(spell("hel"))
    assert outcome.usage.completion_tokens == 3


def test_no_part_of_a_stop_string_ever_leaves() -> None:
    row = make_row(canvas=20, sampling=Sampling(max_tokens=64, stop=("lo w",)))
    seen = ""
    for delta in run_dry(scripted("hello world"), [row])["a"]:
        seen += delta.text
        assert "hel".startswith(seen)


def test_a_stop_string_keeps_a_full_canvas_from_growing() -> None:
    for early_exit in (True, False):
        row = make_row(
            canvas=5, sampling=Sampling(max_tokens=64, stop=("cd",)), decoding=Decoding(early_exit=early_exit)
        )
        outcome = run_alone(scripted("abcdefghijkl"), row)
        assert (outcome.text, outcome.kept_tokens, outcome.finish_reason) == ("ab", 5, "stop")


def test_a_character_is_never_split_between_deltas() -> None:
    euro = [BYTES.index(b) for b in (b"\xe2", b"\x82", b"\xac")]
    engine = make_engine(ScriptedDecoder([*spell("a"), *euro, *spell("b"), END]))
    deltas = run_dry(engine, [make_row(canvas=8)])["a"]
    assert "".join(delta.text for delta in deltas) == "a€b"
    assert not any("\ufffd" in delta.text for delta in deltas)


def test_an_empty_answer_is_an_answer() -> None:
    outcome = run_alone(scripted(""), make_row(canvas=4))
    assert (outcome.text, outcome.tokens, outcome.finish_reason, outcome.steps) == ("", (), "stop", 1)


def test_rows_take_places_and_give_them_back() -> None:
    engine = make_engine(ScriptedDecoder([*spell("ab"), END]), config=EngineConfig(max_rows=3))
    engine.admit([make_row("a", canvas=4), make_row("b", canvas=4)])
    assert (engine.free_rows, engine.idle) == (1, False)
    run_dry(engine)
    assert (engine.free_rows, engine.idle) == (3, True)


def test_an_outcome_tells_the_path_of_the_rows_last_step() -> None:
    together = [make_row(name, canvas=7, max_tokens=7) for name in "ab"]
    rows = [*together, make_row("ragged", canvas=9, max_tokens=9), make_row("grown", canvas=16, max_tokens=16)]
    deltas = run_dry(scripted("abcdefghijklmnopqrstuvwxyz"), rows)
    paths = {name: outcome_of(deltas[name]).path for name in deltas}
    assert paths == {"a": "varlen", "b": "varlen", "ragged": "varlen", "grown": "eager"}


def test_rows_of_one_length_are_padded_together() -> None:
    deltas = run_dry(scripted("abcdefgh"), [make_row(name, canvas=8, max_tokens=8) for name in "ab"])
    assert {outcome_of(deltas[name]).path for name in "ab"} == {"static"}


def test_a_row_beyond_the_budget_is_refused_and_the_others_run() -> None:
    engine = make_engine(random_decoder(), config=EngineConfig(plan_budget_bytes=50_000))
    deltas = run_dry(engine, [make_row("large", prompt_tokens=100), make_row("good", canvas=4, max_tokens=4)])
    assert isinstance(deltas["large"][-1].error, ContextLengthExceeded)
    assert outcome_of(deltas["good"]).kept_tokens == 4


def test_no_more_rows_are_admitted_than_have_room() -> None:
    engine = make_engine(random_decoder(), config=EngineConfig(max_rows=1))
    with pytest.raises(EngineError, match="2 rows for 1"):
        engine.admit([make_row("a"), make_row("b")])
    assert engine.idle


def test_an_id_runs_once_at_a_time() -> None:
    engine = make_engine(random_decoder())
    engine.admit([make_row("a")])
    with pytest.raises(EngineError, match="already"):
        engine.admit([make_row("a")])
    engine.step()
    with pytest.raises(EngineError, match="already"):
        engine.admit([make_row("a")])


def test_a_cancelled_row_frees_its_place_at_once_and_says_nothing_more() -> None:
    engine = make_engine(random_decoder())
    engine.admit([make_row("a"), make_row("b")])
    engine.step()
    engine.cancel({"a", "never seen"})
    engine.cancel({"a"})
    assert engine.free_rows == EngineConfig().max_rows - 1
    assert set(run_dry(engine)) == {"b"}


def test_a_row_cancelled_before_it_joins_never_runs() -> None:
    engine = make_engine(random_decoder())
    engine.admit([make_row("a")])
    engine.cancel(["a"])
    assert engine.idle
    assert engine.step() == []


def test_nothing_of_a_row_is_kept_once_it_is_gone() -> None:
    engine = make_engine(random_decoder())
    engine.admit([make_row("a", canvas=4, max_tokens=4), make_row("b"), make_row("c")])
    engine.step()
    held = {active.row.id: weakref.ref(active) for active in engine._rows}
    engine.cancel(["b"])
    gc.collect()
    assert [held[name]() is None for name in "abc"] == [False, True, False]
    run_dry(engine)
    gc.collect()
    assert all(active() is None for active in held.values())


def test_what_cannot_run_is_answered_alone() -> None:
    rows = [
        make_row("bad rule", decoding=Decoding(remasking="sure")),
        make_row("too long", prompt_tokens=SIZES.max_positions),
        make_row("good"),
    ]
    deltas = run_dry(make_engine(random_decoder()), rows)
    assert isinstance(deltas["bad rule"][-1].error, InvalidRequest)
    assert isinstance(deltas["too long"][-1].error, ContextLengthExceeded)
    assert outcome_of(deltas["good"]) == run_alone(make_engine(random_decoder()), make_row("good"))


@pytest.mark.parametrize("prefix_lm", [True, False])
def test_a_prompt_that_is_no_number_fails_alone(prefix_lm: bool) -> None:
    deltas = run_dry(make_engine(random_decoder(), prefix_lm=prefix_lm), [poisoned(make_row("bad")), make_row("good")])
    assert isinstance(deltas["bad"][-1].error, EngineError)
    assert (
        outcome_of(deltas["good"]).tokens
        == run_alone(make_engine(random_decoder(), prefix_lm=prefix_lm), make_row("good")).tokens
    )


class Choosy(ScriptedDecoder):
    """Has room for nine positions at a time."""

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        if len(ids) > 9:
            raise RuntimeError("out of memory")
        return super().embed(ids)


def test_a_forward_that_fails_together_is_tried_row_by_row() -> None:
    engine = make_engine(Choosy([*spell("abc"), END]))
    deltas = run_dry(engine, [make_row("a", canvas=6), make_row("b", canvas=9)])
    for name in "ab":
        outcome = outcome_of(deltas[name])
        assert (outcome.text, outcome.steps) == ("abc", 4)


def test_a_failure_of_the_model_is_an_answer_and_the_engine_lives() -> None:
    class Broken(ScriptedDecoder):
        def logits(self, hidden: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("device lost")

    engine = make_engine(Broken([]))
    deltas = run_dry(engine, [make_row("a"), make_row("b")])
    for name in "ab":
        assert isinstance(deltas[name][-1].error, EngineError)
        assert "device lost" in str(deltas[name][-1].error)
    assert engine.idle


def test_a_tokenizer_that_fails_fails_its_row_only() -> None:
    def broken(ids: object) -> str:
        raise KeyError("no such id")

    decoder: Decoder = ScriptedDecoder([*spell("abc"), END])
    engine = Engine(decoder, ROLES, broken, EngineConfig(), loop=loop_of())
    assert isinstance(run_dry(engine, [make_row("a", canvas=6)])["a"][-1].error, EngineError)


def test_seeds_decide_sampled_answers() -> None:
    def sampled(seed: int) -> tuple[int, ...]:
        row = make_row(canvas=16, sampling=Sampling(max_tokens=16, temperature=1.5, seed=seed))
        return run_alone(make_engine(random_decoder()), row).tokens

    assert sampled(1) == sampled(1)
    assert len({sampled(seed) for seed in range(6)}) > 1
