"""Every family's prompts against the strings its reference makes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from seer_core.families.detection import family_named
from seer_core.preprocess.template import IMAGE_MARK, ChatTemplate
from seer_core.types import Message
from tests.golden.conftest import CASES

IMAGE = b"an image"


def prompts_of(family: str) -> list[Any]:
    prompts = json.loads((CASES / family / "prompts.json").read_text())["prompts"]
    return [
        pytest.param(family, prompt, id=f"{family}-{prompt['name']}-{prompt.get('form', 'chat')}") for prompt in prompts
    ]


PROMPTS = [
    prompt for family in ("lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple") for prompt in prompts_of(family)
]


def messages_of(prompt: dict[str, Any]) -> list[Message]:
    """The turns; an image is either marked in the content or said to come first."""
    first = prompt.get("image_first", prompt.get("image_before_text", False))
    messages: list[Message] = []
    for turn in prompt["messages"]:
        marked = turn["content"].startswith(f"{IMAGE_MARK}\n")
        images = (IMAGE,) if marked or (first and not messages) else ()
        text = turn["content"].removeprefix(f"{IMAGE_MARK}\n") if marked else turn["content"]
        messages.append(Message(role=turn["role"], text=text, images=images))
    return messages


def template_of(family: str, prompt: dict[str, Any]) -> ChatTemplate:
    facts = family_named(family)
    return facts.templates.get(prompt.get("form", ""), facts.template)


@pytest.mark.parametrize(("family", "prompt"), PROMPTS)
def test_prompts_render_as_the_reference_does(family: str, prompt: dict[str, Any]) -> None:
    rendered = template_of(family, prompt).render(messages_of(prompt))
    if family == "mmada" and prompt["image_before_text"]:
        rendered = rendered.removeprefix(f"<|mmu|><|soi|>{IMAGE_MARK}<|eoi|>")
    if family == "dimple":
        rendered = rendered.replace(IMAGE_MARK, "<|image_pad|>")
    assert rendered == prompt["rendered"]


@pytest.mark.parametrize(("family", "prompt"), PROMPTS)
def test_a_system_turn_that_is_left_out_is_the_references_default(family: str, prompt: dict[str, Any]) -> None:
    template, messages = template_of(family, prompt), messages_of(prompt)
    if messages[0].role == "system":
        assert template.render(messages[1:]) == template.render(messages)
    else:
        given = Message(role="system", text=template.default_system or "")
        assert template.default_system is None or template.render([given, *messages]) == template.render(messages)
