"""Chat forms: who says what, where the images stand, what is trimmed."""

from __future__ import annotations

from seer_core.families.dimple import DIMPLE
from seer_core.families.lavida import LAVIDA_LLADA
from seer_core.families.mmada import MMADA
from seer_core.types import Message

TEMPLATE = LAVIDA_LLADA.template


def test_a_given_system_turn_replaces_the_default() -> None:
    messages = [Message(role="system", text="Be brief."), Message(role="user", text="hi")]
    rendered = TEMPLATE.render(messages)
    assert "Be brief." in rendered
    assert TEMPLATE.default_system is not None
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


def test_images_that_lead_come_before_the_conversation_whichever_turn_they_are_of() -> None:
    turns = [
        Message(role="user", text="Look.", images=(b"a",)),
        Message(role="assistant", text="Yes?"),
        Message(role="user", text="And this?", images=(b"b",)),
    ]
    rendered = MMADA.template.render(turns)
    assert rendered.startswith("<|mmu|><|soi|><image><|eoi|><|soi|><image><|eoi|><|startoftext|>")
    assert rendered.count("<image>") == 2


def test_each_of_several_images_is_enclosed() -> None:
    rendered = DIMPLE.template.render([Message(role="user", text="Compare.", images=(b"a", b"b"))])
    one = "<|vision_start|><image><|vision_end|>"
    assert f"user\n{one}{one}Compare.<|im_end|>" in rendered


def test_a_form_without_begin_token_starts_with_its_first_turn() -> None:
    assert DIMPLE.template.parts([Message(role="user", text="hi")])[0].text == "<|im_start|>"
