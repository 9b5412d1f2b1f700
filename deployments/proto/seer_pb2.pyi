from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Message(_message.Message):
    __slots__ = ("role", "text", "images")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    role: str
    text: str
    images: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, role: _Optional[str] = ..., text: _Optional[str] = ..., images: _Optional[_Iterable[bytes]] = ...) -> None: ...

class GenerateRequest(_message.Message):
    __slots__ = ("messages", "max_tokens", "temperature", "top_p", "seed", "stop", "detector", "truncate", "steps_per_token", "block_length", "remasking", "schedule", "schedule_shift", "early_exit", "priority", "budget_s", "commit", "commit_threshold", "commit_factor", "cache", "guidance_scale")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    DETECTOR_FIELD_NUMBER: _ClassVar[int]
    TRUNCATE_FIELD_NUMBER: _ClassVar[int]
    STEPS_PER_TOKEN_FIELD_NUMBER: _ClassVar[int]
    BLOCK_LENGTH_FIELD_NUMBER: _ClassVar[int]
    REMASKING_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_SHIFT_FIELD_NUMBER: _ClassVar[int]
    EARLY_EXIT_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    BUDGET_S_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    COMMIT_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FACTOR_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    GUIDANCE_SCALE_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    stop: _containers.RepeatedScalarFieldContainer[str]
    detector: str
    truncate: bool
    steps_per_token: float
    block_length: int
    remasking: str
    schedule: str
    schedule_shift: float
    early_exit: bool
    priority: int
    budget_s: float
    commit: str
    commit_threshold: float
    commit_factor: float
    cache: str
    guidance_scale: float
    def __init__(self, messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., max_tokens: _Optional[int] = ..., temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., seed: _Optional[int] = ..., stop: _Optional[_Iterable[str]] = ..., detector: _Optional[str] = ..., truncate: _Optional[bool] = ..., steps_per_token: _Optional[float] = ..., block_length: _Optional[int] = ..., remasking: _Optional[str] = ..., schedule: _Optional[str] = ..., schedule_shift: _Optional[float] = ..., early_exit: _Optional[bool] = ..., priority: _Optional[int] = ..., budget_s: _Optional[float] = ..., commit: _Optional[str] = ..., commit_threshold: _Optional[float] = ..., commit_factor: _Optional[float] = ..., cache: _Optional[str] = ..., guidance_scale: _Optional[float] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("prompt_tokens", "completion_tokens")
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    prompt_tokens: int
    completion_tokens: int
    def __init__(self, prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ...) -> None: ...

class Outcome(_message.Message):
    __slots__ = ("finish_reason", "tokens", "forecast_tokens", "canvas_tokens", "kept_tokens", "steps", "regrown", "path", "detector", "usage")
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    FORECAST_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CANVAS_TOKENS_FIELD_NUMBER: _ClassVar[int]
    KEPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    REGROWN_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    DETECTOR_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    finish_reason: str
    tokens: _containers.RepeatedScalarFieldContainer[int]
    forecast_tokens: int
    canvas_tokens: int
    kept_tokens: int
    steps: int
    regrown: int
    path: str
    detector: str
    usage: Usage
    def __init__(self, finish_reason: _Optional[str] = ..., tokens: _Optional[_Iterable[int]] = ..., forecast_tokens: _Optional[int] = ..., canvas_tokens: _Optional[int] = ..., kept_tokens: _Optional[int] = ..., steps: _Optional[int] = ..., regrown: _Optional[int] = ..., path: _Optional[str] = ..., detector: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ...) -> None: ...

class GenerateResponse(_message.Message):
    __slots__ = ("id", "text", "outcome")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    outcome: Outcome
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., outcome: _Optional[_Union[Outcome, _Mapping]] = ...) -> None: ...

class GenerateChunk(_message.Message):
    __slots__ = ("id", "text", "outcome")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    outcome: Outcome
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., outcome: _Optional[_Union[Outcome, _Mapping]] = ...) -> None: ...
