"""A chat template as parts: control tokens, text, images. Text stays text, whatever it spells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seer_core.types import Message

IMAGE_MARK = "<image>"


@dataclass(frozen=True, slots=True)
class Part:
    """A control token by name, a stretch of text, or the place of one image."""

    kind: Literal["control", "text", "image"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderTemplate:
    """LLaDA's chat form: begin, then `header role header-end`, a blank line, the trimmed content and a turn end.

    It always ends with an open assistant turn (`llava/conversation.py` and the tokenizer's template in the LaViDa
    repository).
    """

    begin: str
    header: str
    header_end: str
    turn_end: str
    default_system: str

    def parts(self, messages: Sequence[Message]) -> list[Part]:
        """The conversation in order, adjacent text joined; a default system turn comes first where there is none."""
        if not messages or messages[0].role != "system":
            messages = (Message(role="system", text=self.default_system), *messages)
        parts = [Part("control", self.begin)]
        for message in messages:
            parts += [*self._opening(message.role), *_content(message), Part("control", self.turn_end)]
        return _joined([*parts, *self._opening("assistant")])

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation as one string, as the reference shows it."""
        return "".join(part.text for part in self.parts(messages))

    def _opening(self, role: str) -> list[Part]:
        return [
            Part("control", self.header),
            Part("text", role),
            Part("control", self.header_end),
            Part("text", "\n\n"),
        ]


def _content(message: Message) -> list[Part]:
    if not message.images:
        return [Part("text", message.text.strip())]
    marks = [part for _ in message.images for part in (Part("image", IMAGE_MARK), Part("text", "\n"))]
    text = message.text.rstrip()
    return [*marks, Part("text", text)] if text else marks[:-1]


def _joined(parts: list[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if joined and part.kind == "text" and joined[-1].kind == "text":
            joined[-1] = Part("text", joined[-1].text + part.text)
        else:
            joined.append(part)
    return [part for part in joined if part.text]
