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
class ChatTemplate:
    """A chat form: `begin`, then every turn as `header role header_end after_header content turn_end after_turn`.

    `begin`, `header`, `header_end` and `turn_end` are control tokens, empty where the form has none; `after_header` and
    `after_turn` are text. `trims` says that white space around a turn's content is cut. A conversation that has no
    system turn gets `default_system`, unless that is None; it always ends with an open assistant turn.

    An image stands between `image_open` and `image_close`, before the words of its turn and `image_break`; or, with
    `images_lead`, before the whole conversation, behind the control tokens that it names.
    """

    begin: str = ""
    header: str
    header_end: str = ""
    after_header: str
    turn_end: str
    after_turn: str = ""
    trims: bool = False
    default_system: str | None = None
    image_open: str = ""
    image_close: str = ""
    image_break: str = ""
    images_lead: tuple[str, ...] | None = None

    def parts(self, messages: Sequence[Message]) -> list[Part]:
        """The conversation in order, adjacent text joined; the default system turn comes first where there is none."""
        if self.default_system is not None and not (messages and messages[0].role == "system"):
            messages = (Message(role="system", text=self.default_system), *messages)
        parts = [*self._lead(messages), Part("control", self.begin)]
        for message in messages:
            closing = (Part("control", self.turn_end), Part("text", self.after_turn))
            parts += [*self._opening(message.role), *self._content(message), *closing]
        return _joined([*parts, *self._opening("assistant")])

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation as one string, as the reference shows it."""
        return "".join(part.text for part in self.parts(messages))

    @property
    def controls(self) -> frozenset[str]:
        """The names of all control tokens that the form uses."""
        names = (self.begin, self.header, self.header_end, self.turn_end, self.image_open, self.image_close)
        return frozenset((*names, *(self.images_lead or ()))) - {""}

    def _opening(self, role: str) -> list[Part]:
        return [
            Part("control", self.header),
            Part("text", role),
            Part("control", self.header_end),
            Part("text", self.after_header),
        ]

    def _lead(self, messages: Sequence[Message]) -> list[Part]:
        count = sum(len(message.images) for message in messages)
        if self.images_lead is None or not count:
            return []
        return [*(Part("control", name) for name in self.images_lead), *self._image() * count]

    def _content(self, message: Message) -> list[Part]:
        # An image is content too: white space between it and the words is inside, and stays.
        if self.images_lead is not None or not message.images:
            return [Part("text", message.text.strip() if self.trims else message.text)]
        images = [part for _ in message.images for part in (*self._image(), Part("text", self.image_break))]
        text = message.text.rstrip() if self.trims else message.text
        return [*images, Part("text", text)] if text else images[:-1]

    def _image(self) -> list[Part]:
        return [Part("control", self.image_open), Part("image", IMAGE_MARK), Part("control", self.image_close)]


def _joined(parts: list[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if joined and part.kind == "text" and joined[-1].kind == "text":
            joined[-1] = Part("text", joined[-1].text + part.text)
        elif part.text:
            joined.append(part)
    return joined
