"""The HTTP request: OpenAI's chat completion shapes, the `seer` object, and their way to a GenerationRequest.

What is not declared here is refused by name. Replies are in `replies.py`.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from seer_core.errors import BadImage, InvalidRequest
from seer_core.types import Decoding, GenerationRequest, Message, Sampling

DEFAULTS = GenerationRequest(id="", messages=())

CommitName = Literal["schedule", "threshold", "factor", "confident"]


class Strict(BaseModel):
    """Frozen, and deaf to unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SeerOptions(Strict):
    """What OpenAI has no word for."""

    detector: str | None = None
    truncate: bool = True
    steps_per_token: float = Field(default=1.0, gt=0, le=1)
    block_length: int | None = Field(default=None, ge=1)
    remasking: Literal["low_confidence", "entropy", "margin", "random", "leftmost"] | None = None
    schedule: Literal["even", "shift", "cosine", "timesteps", "share"] | None = None
    schedule_shift: float = Field(default=DEFAULTS.decoding.schedule_shift, gt=0, le=1e6)
    commit: CommitName | None = None
    commit_threshold: float | None = Field(default=None, allow_inf_nan=False)
    commit_factor: float = Field(default=DEFAULTS.decoding.commit_factor, gt=0, allow_inf_nan=False)
    cache: Literal["exact", "fastdllm_prefix", "fastdllm_dual"] = "exact"
    guidance_scale: float = Field(default=DEFAULTS.decoding.guidance_scale, ge=0, le=100)
    early_exit: bool = True
    priority: int = Field(default=0, ge=-10, le=10)
    budget_s: float = Field(default=DEFAULTS.budget_s, gt=0, le=3600)

    def decoding(self) -> Decoding:
        return Decoding(
            detector=self.detector,
            truncate=self.truncate,
            steps_per_token=self.steps_per_token,
            block_length=self.block_length,
            remasking=self.remasking,
            schedule=self.schedule,
            schedule_shift=self.schedule_shift,
            commit=self.commit,
            commit_threshold=self.commit_threshold,
            commit_factor=self.commit_factor,
            cache=self.cache,
            guidance_scale=self.guidance_scale,
            early_exit=self.early_exit,
        )


def _stops(value: object) -> object:
    """A plain string is one stop string, an empty one is none."""
    return list(filter(None, [value])) if isinstance(value, str) else value


Stops = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    Field(max_length=4),
    BeforeValidator(_stops, json_schema_input_type=str | list[str]),
]


class SamplingOptions(Strict):
    """Sampling fields under their OpenAI names."""

    max_tokens: int | None = Field(default=None, ge=1, le=32768)
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    stop: Stops | None = None

    def sampling(self, max_tokens: int | None) -> Sampling:
        """`max_tokens` overrides the field of that name. Without a seed one is drawn, so that a rerun is exact."""
        default = DEFAULTS.sampling
        return Sampling(
            max_tokens=max_tokens or self.max_tokens or default.max_tokens,
            temperature=default.temperature if self.temperature is None else self.temperature,
            top_p=default.top_p if self.top_p is None else self.top_p,
            seed=secrets.randbits(31) if self.seed is None else self.seed & (2**63 - 1),
            stop=tuple(self.stop or ()),
        )


class TextPart(Strict):
    type: Literal["text"]
    text: str


class ImageUrl(Strict):
    url: str
    detail: Literal["auto"] = "auto"

    def image(self) -> bytes:
        """The bytes of a data URL. Raises InvalidRequest for other URLs, BadImage for broken base64."""
        if not self.url.startswith("data:"):
            raise InvalidRequest("image_url.url must be a data URL; remote images are refused", field="image_url.url")
        header, _, payload = self.url.partition(",")
        if not header.endswith(";base64"):
            raise InvalidRequest("image_url.url must be a base64 data URL", field="image_url.url")
        try:
            return base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadImage("image_url.url does not hold valid base64", field="image_url.url") from error


class ImagePart(Strict):
    type: Literal["image_url"]
    image_url: ImageUrl


Part = Annotated[TextPart | ImagePart, Field(discriminator="type")]


def _parts(content: object) -> object:
    """A plain string is one text part."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class ChatMessage(Strict):
    role: Literal["system", "user", "assistant"]
    content: Annotated[list[Part], BeforeValidator(_parts)]

    def message(self) -> Message:
        """Text parts joined by line ends; images, wherever they stood, before the text."""
        texts = [part.text for part in self.content if isinstance(part, TextPart)]
        images = [part.image_url.image() for part in self.content if isinstance(part, ImagePart)]
        return Message(role=self.role, text="\n".join(texts), images=tuple(images))


NEUTRAL: Mapping[str, tuple[object, ...]] = MappingProxyType(
    {
        "frequency_penalty": (0,),
        "presence_penalty": (0,),
        "logit_bias": ({},),
        "logprobs": (False,),
        "top_logprobs": (0,),
        "response_format": ({"type": "text"},),
        "modalities": (["text"],),
        "tools": ([],),
        "tool_choice": ("none", "auto"),
        "store": (False,),
        "service_tier": ("auto", "default"),
    }
)
"""Values that ask for nothing of fields this server does not have. Clients send them out of habit, null likewise."""


def _without_neutral(body: object) -> object:
    if not isinstance(body, dict):
        return body
    return {
        name: value
        for name, value in body.items()
        if name not in NEUTRAL or not (value is None or value in NEUTRAL[name])
    }


class StreamOptions(Strict):
    include_usage: bool = False


class ChatRequest(SamplingOptions):
    """`POST /v1/chat/completions`."""

    model: str | None = None
    messages: list[ChatMessage] = Field(min_length=1, max_length=256)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=32768)
    n: Literal[1] = 1
    stream: bool = False
    stream_options: StreamOptions | None = None
    user: str | None = None
    seer: SeerOptions = SeerOptions()

    @model_validator(mode="before")
    @classmethod
    def _asking(cls, body: object) -> object:
        return _without_neutral(body)

    @model_validator(mode="after")
    def _consistent(self) -> ChatRequest:
        both = self.max_tokens is not None and self.max_completion_tokens is not None
        if both and self.max_tokens != self.max_completion_tokens:
            raise ValueError("max_tokens and max_completion_tokens contradict each other; send one of them")
        if self.stream_options is not None and not self.stream:
            raise ValueError("stream_options is only for streamed answers; set stream to true")
        return self

    def request(self, request_id: str) -> GenerationRequest:
        """The validated request. Raises InvalidRequest or BadImage for image parts that cannot be read."""
        return GenerationRequest(
            id=request_id,
            messages=tuple(message.message() for message in self.messages),
            sampling=self.sampling(self.max_completion_tokens),
            decoding=self.seer.decoding(),
            priority=self.seer.priority,
            budget_s=self.seer.budget_s,
        )
