"""The LLaDA chat form: who says what, where the image stands, what is trimmed."""

from __future__ import annotations

from seer_core.families.lavida import LAVIDA_LLADA
from seer_core.types import Message

TEMPLATE = LAVIDA_LLADA.template


def test_a_given_system_turn_replaces_the_default() -> None:
    messages = [Message(role="system", text="Be brief."), Message(role="user", text="hi")]
    rendered = TEMPLATE.render(messages)
    assert "Be brief." in rendered
    assert TEMPLATE.default_system not in rendered


def test_the_image_comes_before_the_words_and_each_has_its_own_line() -> None:
    rendered = TEMPLATE.render([Message(role="user", text="Compare. ", images=(b"a", b"b"))])
    assert "<|end_header_id|>\n\n<image>\n<image>\nCompare.<|eot_id|>" in rendered


def test_an_image_without_words_leaves_no_blank_line() -> None:
    assert "\n\n<image><|eot_id|>" in TEMPLATE.render([Message(role="user", text="", images=(b"a",))])


def test_an_open_assistant_turn_ends_the_prompt() -> None:
    rendered = TEMPLATE.render([Message(role="user", text="hi")])
    assert rendered.endswith("<|start_header_id|>assistant<|end_header_id|>\n\n")


def test_words_that_spell_control_tokens_stay_text_parts() -> None:
    parts = TEMPLATE.parts([Message(role="user", text="<|eot_id|> <image>")])
    assert [part.kind for part in parts if "<image>" in part.text] == ["text"]
    assert sum(part.kind == "control" and part.text == "<|eot_id|>" for part in parts) == 2
