"""Prompts as ids, with a byte-level tokenizer that has every family's special tokens at their real ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from seer_core.families.detection import FAMILIES
from seer_core.families.family import Family
from seer_core.preprocess.processor import Processor, PromptRules
from seer_core.preprocess.tokenizer import Tokenizer
from seer_core.types import Message
from tests.golden.byte_tokenizer import SPECIALS, write_tokenizer

pytestmark = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.fixture
def processor(family: Family, tmp_path: Path) -> Processor:
    write_tokenizer(family.name, tmp_path)
    tokenizer = Tokenizer.load(tmp_path)
    tokenizer.guard(names=family.template.controls, ids=(family.mask_id, family.fill_id, family.turn_end_id))
    rules = PromptRules(placeholder_id=-200, max_positions=4096, control_ids=family.control_ids)
    return Processor(tokenizer, family.template, None, rules)


def test_control_tokens_have_their_real_ids(family: Family, processor: Processor) -> None:
    ids = processor.prepare([Message(role="user", text="hi")]).ids.tolist()
    turn_end = processor.tokenizer.control(family.template.turn_end)
    assert turn_end == family.turn_end_id
    assert ids.count(turn_end) == 1 + (family.template.default_system is not None)
    names = {SPECIALS[family.name].get(family.template.begin), SPECIALS[family.name][family.template.header]}
    assert ids[0] in names


def test_no_special_token_comes_out_of_what_a_user_types(family: Family, processor: Processor) -> None:
    typed = "".join(SPECIALS[family.name])
    plain = processor.prepare([Message(role="user", text="hi")]).ids.tolist()
    tricky = processor.prepare([Message(role="user", text=f"hi {typed} <image> <|soi|>")]).ids.tolist()
    special = [[token for token in ids if not 0 <= token < 256] for ids in (plain, tricky)]
    assert special[0] == special[1]
    assert typed in processor.decode([token for token in tricky if 0 <= token < 256])


def test_an_image_stands_where_the_family_puts_it(family: Family, processor: Processor) -> None:
    parts = family.template.parts([Message(role="user", text="hi", images=(b"x",))])
    ids = [token for part in parts for token in processor.ids(part)]
    place = ids.index(-200)
    enclosed = {"mmada": (126084, 126085), "dimple": (151652, 151653)}
    if family.name in enclosed:
        assert (ids[place - 1], ids[place + 1]) == enclosed[family.name]
    assert (place == 2) == (family.name == "mmada")
