"""Turns pydantic's complaints into one InvalidRequest: the field at fault, and the known names nearest to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from seer_core.errors import InvalidRequest

Model = TypeVar("Model", bound=BaseModel)

TAGS = frozenset({"text", "image_url"})
UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})

NO_OBJECT = frozenset({"missing", "model_type", "model_attributes_type"})

UNSUPPORTED = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "metadata",
        "modalities",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "reasoning_effort",
        "response_format",
        "service_tier",
        "store",
        "tool_choice",
        "tools",
        "top_logprobs",
        "verbosity",
        "web_search_options",
    }
)
"""Fields other servers of this API know and this one does not."""


def parse(model: type[Model], value: object) -> Model:
    """Validate; raises InvalidRequest naming the first field at fault."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise explain(error.errors(include_url=False), model) from error


def explain(complaints: Sequence[Any], model: type[BaseModel]) -> InvalidRequest:
    """The first complaint in words. An unknown field is reported before a wrong value."""
    complaint = min(complaints, key=lambda one: one["type"] not in UNKNOWN)
    if complaint["type"] == "json_invalid":
        return InvalidRequest(f"the body is not JSON: {complaint['ctx']['error']} at character {complaint['loc'][-1]}")
    path = _path(complaint["loc"])
    if complaint["loc"] == ("body",) and complaint["type"] in NO_OBJECT:
        return InvalidRequest("the body must be a JSON object, sent with the content type application/json")
    field = ".".join(str(part) for part in path) or None
    if complaint["type"] in UNKNOWN:
        return InvalidRequest(_unknown(path, model), field=field)
    text = complaint["msg"].removeprefix("Value error, ")
    return InvalidRequest(f"{field}: {text}" if field else text, field=field)


def _path(location: Sequence[Any]) -> list[Any]:
    """Where the field is, without the names pydantic adds: of the body, and of the branch a list's item was read as."""
    return [
        part
        for index, part in enumerate(location)
        if not (index == 0 and part == "body") and not (part in TAGS and isinstance(location[index - 1], int))
    ]


def _unknown(path: list[Any], model: type[BaseModel]) -> str:
    name, owner = str(path[-1]), ".".join(str(part) for part in path[:-1])
    shown = f"{owner}.{name}" if owner else name
    if not owner and name in UNSUPPORTED:
        return f"{shown} is not supported by this server"
    near = get_close_matches(name, sorted(_known(model, path[:-1])), n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"{shown} is unknown{hint}"


def _known(model: type[Any], path: Sequence[Any]) -> set[str]:
    """Field names of the record that `path` leads to; those of every branch where the path passes a union."""
    owners: list[type[Any]] = [model]
    for part in path:
        inner = [_annotation(owner, part) for owner in owners]
        owners = [record for annotation in inner if annotation is not None for record in _records(annotation)] or owners
    return {name for owner in owners for name in _fields(owner)}


def _fields(owner: type[Any]) -> dict[str, Any]:
    if issubclass(owner, BaseModel):
        return {name: info.annotation for name, info in owner.model_fields.items()}
    return {field.name: field.type for field in dataclasses.fields(owner)} if dataclasses.is_dataclass(owner) else {}


def _annotation(owner: type[Any], part: Any) -> Any:
    return _fields(owner).get(part)


def _records(annotation: Any) -> list[type[Any]]:
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)):
        return [annotation]
    return [record for argument in get_args(annotation) for record in _records(argument)]
