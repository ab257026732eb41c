"""Values for the results of tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footlight.protocol.untrusted_json import an_object, items, object_or_none, text

__all__ = [
    "CallResult",
    "Content",
    "ToolResult",
    "data_of",
    "error_of",
    "read_call",
    "read_result",
    "value_of",
]


@dataclass(frozen=True, slots=True)
class Content:
    """A part of a result. `data` is in base64. For an embedded resource, the fields are the resource's."""

    type: str
    """`text`, `image`, `audio`, `resource` or `resource_link`."""
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    uri: str | None = None
    name: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def __post_init__(self) -> None:
        if not self.type:
            raise ValueError("type: must not be empty")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool. `raw` is the server's unchanged result."""

    content: Sequence[Content] = ()
    structured_content: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def text(self) -> str:
        """Return the text parts, joined by line breaks."""
        return "\n".join(part.text or "" for part in self.content if part.type == "text")


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of `MCPClient.call`. `data` is the value that `data_of` returns."""

    raw: Mapping[str, Any]
    text: str
    data: Any
    is_error: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON object with camelCase names."""
        return {"raw": self.raw, "text": self.text, "data": self.data, "isError": self.is_error}


def read_result(raw: Mapping[str, Any]) -> ToolResult:
    """Parse the result of `tools/call`.

    Malformed parts are ignored. Without `isError`, it is not an error.
    """
    parts = (an_object(part) for part in items(raw.get("content")))
    return ToolResult(
        content=tuple(_content(part) for part in parts if part.get("type")),
        structured_content=raw.get("structuredContent"),
        is_error=raw.get("isError") is True,
        meta=an_object(raw.get("_meta")),
        raw=raw,
    )


def read_call(raw: Mapping[str, Any]) -> CallResult:
    result = read_result(raw)
    return CallResult(raw=raw, text=result.text, data=data_of(result), is_error=result.is_error)


def data_of(result: ToolResult) -> Any:
    """Return the structured content, or else the object or array in the text as JSON, or else None.

    The structured content takes precedence, because the tool's output schema and the generated type describe
    it. A text such as `42` or `null` is not parsed, because the server may not have intended it as JSON.
    """
    return _parse_json(result.text) if result.structured_content is None else result.structured_content


def error_of(result: ToolResult) -> tuple[str, Mapping[str, Any] | None]:
    """Return the message of a failed result, and its error object, or None if it has no error object.

    An error object is `{code?, message, …}` under the key `error`, in the structured content or in the text
    as JSON. The returned message starts with its code. Without an error object, the message is the text.
    """
    for answer in (result.structured_content, _parse_json(result.text)):
        error = object_or_none(an_object(answer).get("error"))
        message = text(error.get("message")) if error is not None else None
        if error is not None and message:
            return ": ".join(filter(None, (text(error.get("code")), message))), error
    return result.text, None


def _content(raw: Mapping[str, Any]) -> Content:
    kind = str(raw["type"])
    inner = an_object(raw.get("resource")) if kind == "resource" else raw
    return Content(
        type=kind,
        text=text(inner.get("text")),
        data=text(inner.get("blob" if kind == "resource" else "data")),
        mime_type=text(inner.get("mimeType")),
        uri=text(inner.get("uri")),
        name=text(inner.get("name")),
        raw=raw,
    )


def _parse_json(written: str) -> Any:
    if not written.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(written, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return None


def _reject_constant(word: str) -> Any:
    """Reject NaN and Infinity, which Python parses although they are not valid JSON."""
    raise ValueError(word)


def value_of(result: ToolResult) -> Any:
    """Return the value that a handle's method returns: the data of a result (`data_of`), or else its text.

    A result without data and text, such as one with only images or links, is returned unchanged.
    """
    data = data_of(result)
    if data is not None:
        return data
    if result.content and all(part.type != "text" for part in result.content):
        return result
    return result.text
