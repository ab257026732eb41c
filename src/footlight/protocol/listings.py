"""Values for resources, prompts and completions. `raw` is the server's unchanged entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, integer, items, text

__all__ = [
    "Completion",
    "Prompt",
    "PromptResult",
    "Resource",
    "ResourceContents",
    "ResourceTemplate",
    "read_completion",
    "read_contents",
    "read_prompt",
    "read_prompt_result",
    "read_resource",
    "read_template",
]

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that clients can read."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    raw: Raw = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """A template for the URIs of resources, in the format of RFC 6570."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    raw: Raw = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True, slots=True)
class ResourceContents:
    """The content of a resource: either `text`, or `blob` in base64."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    raw: Raw = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt. `arguments` maps the name of each argument to whether it is required."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: Mapping[str, bool] = field(default_factory=dict[str, bool])
    raw: Raw = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True, slots=True)
class PromptResult:
    """The messages of a prompt in the protocol's format, each with a role and content."""

    messages: Sequence[Raw]
    description: str | None = None
    raw: Raw = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """Suggested values of an argument. `total` includes values that were not sent."""

    values: Sequence[str]
    total: int | None = None
    has_more: bool = False


def read_resource(entry: object) -> Resource:
    raw = _object(entry, "resource", "uri")
    return Resource(
        raw["uri"],
        text(raw.get("name")) or raw["uri"],
        text(raw.get("title")),
        text(raw.get("description")),
        text(raw.get("mimeType")),
        raw,
    )


def read_template(entry: object) -> ResourceTemplate:
    raw = _object(entry, "resource template", "uriTemplate")
    return ResourceTemplate(
        raw["uriTemplate"],
        text(raw.get("name")) or raw["uriTemplate"],
        text(raw.get("title")),
        text(raw.get("description")),
        text(raw.get("mimeType")),
        raw,
    )


def read_contents(entry: object) -> ResourceContents:
    raw = _object(entry, "content of a resource", "uri")
    return ResourceContents(
        raw["uri"], text(raw.get("mimeType")), text(raw.get("text")), text(raw.get("blob")), raw
    )


def read_prompt(entry: object) -> Prompt:
    raw = _object(entry, "prompt", "name")
    raw_arguments = raw.get("arguments")
    arguments = [
        _object(each, f"prompt {raw['name']} with an argument", "name") for each in items(raw_arguments)
    ]
    return Prompt(
        raw["name"],
        text(raw.get("title")),
        text(raw.get("description")),
        {each["name"]: each.get("required") is True for each in arguments},
        raw,
    )


def read_prompt_result(raw: Raw) -> PromptResult:
    return PromptResult(
        tuple(_object(each, "message of a prompt", "role") for each in items(raw.get("messages"))),
        text(raw.get("description")),
        raw,
    )


def read_completion(raw: Raw) -> Completion:
    completion = an_object(raw.get("completion"))
    return Completion(
        tuple(str(each) for each in items(completion.get("values"))),
        integer(completion.get("total")),
        completion.get("hasMore") is True,
    )


def _object(entry: object, what: str, key: str) -> Raw:
    raw = an_object(entry)
    if text(raw.get(key)) is None:
        raise MCPError(f"The server gave a {what} without {key}", reason="protocol")
    return raw
