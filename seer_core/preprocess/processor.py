"""Messages to a `Prompt`: template, tokens and prepared images of one checkpoint. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from seer_core.errors import ContextLengthExceeded, InvalidRequest
from seer_core.preprocess.image import ImageLimits, decode_image
from seer_core.preprocess.prepare import ImageRule, prepare_image
from seer_core.preprocess.template import ChatTemplate, Part
from seer_core.preprocess.tokenizer import Tokenizer
from seer_core.prompt import PreparedImage, Prompt
from seer_core.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRules:
    """What a checkpoint accepts: how many images, how many positions in all, and the id that stands for an image.

    `control_ids` are control tokens known by id, whatever the tokenizer calls them.
    """

    placeholder_id: int
    max_positions: int
    min_images: int = 0
    max_images: int = 16
    limits: ImageLimits = field(default_factory=ImageLimits)
    control_ids: Mapping[str, int] = field(default_factory=dict)


class Processor:
    """Prepares prompts and decodes answers for one checkpoint."""

    def __init__(
        self, tokenizer: Tokenizer, template: ChatTemplate, image_rule: ImageRule | None, rules: PromptRules
    ) -> None:
        """`image_rule` None refuses images."""
        self.tokenizer = tokenizer
        self.template = template
        self.image_rule = image_rule
        self.rules = rules

    def prepare(self, messages: Sequence[Message], canvas_tokens: int = 0) -> Prompt:
        """The prompt of a conversation, with room for `canvas_tokens` behind it.

        Raises `InvalidRequest` for a wrong number of images, no user turn or broken text, `BadImage` for bytes that are
        no image, `ContextLengthExceeded` where prompt and canvas do not fit the model's positions.
        """
        self._check(messages)
        if canvas_tokens > self.rules.max_positions:
            text = f"max_tokens is {canvas_tokens}; the model has room for {self.rules.max_positions} with the prompt"
            raise ContextLengthExceeded(text, field="max_tokens")
        self._check_text([message.text.strip() for message in messages], canvas_tokens)
        files = [data for message in messages for data in message.images]
        alone = len(files) == 1
        images = tuple(self.image(decode_image(data, self.rules.limits), alone=alone) for data in files)
        ids = [token for part in self.template.parts(messages) for token in self.ids(part)]
        length = len(ids) + sum(image.tokens - 1 for image in images)
        room = self.rules.max_positions
        if length + canvas_tokens > room:
            raise ContextLengthExceeded(
                f"the prompt has {length} tokens and max_tokens is {canvas_tokens}; the model has room for {room}",
                field="messages",
            )
        return Prompt(ids=np.asarray(ids, dtype=np.int64), images=images, length_tokens=length)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of answer tokens, control tokens left out."""
        return self.tokenizer.decode(ids)

    def _check(self, messages: Sequence[Message]) -> None:
        if not any(message.role == "user" for message in messages):
            raise InvalidRequest("messages need at least one user turn", field="messages")
        count = sum(len(message.images) for message in messages)
        low, high = self.rules.min_images, self.rules.max_images
        if count < low:
            raise InvalidRequest(f"this model needs an image: {count} given, at least {low} expected", field="messages")
        if count > high:
            raise InvalidRequest(f"{count} images given; this model takes at most {high}", field="messages")

    def _check_text(self, texts: Sequence[str], canvas_tokens: int) -> None:
        """Refuse what would take the tokenizer minutes only to be too long, then half characters."""
        least, room = sum(map(len, texts)) // self.tokenizer.longest, self.rules.max_positions
        if least + canvas_tokens > room:
            raise ContextLengthExceeded(
                f"the prompt has at least {least} tokens and max_tokens is {canvas_tokens}; "
                f"the model has room for {room}",
                field="messages",
            )
        try:
            "".join(texts).encode()
        except UnicodeEncodeError as error:
            raise InvalidRequest("a message holds half a character, a lone surrogate", field="messages") from error

    def image(self, image: Image.Image, *, alone: bool = True) -> PreparedImage:
        """A decoded image as the tower takes it; `alone` says that it is the prompt's only one.

        Raises `InvalidRequest` where the model takes none, `BadImage` for a size that it does not take.
        """
        if self.image_rule is None:
            raise InvalidRequest("this model takes no images", field="messages")
        return prepare_image(image, self.image_rule, alone=alone)

    def ids(self, part: Part) -> list[int]:
        """Token ids of one part of a rendered conversation."""
        if part.kind == "image":
            return [self.rules.placeholder_id]
        if part.kind == "text":
            return self.tokenizer.encode(part.text)
        known = self.rules.control_ids.get(part.text)
        return [self.tokenizer.control(part.text) if known is None else known]
