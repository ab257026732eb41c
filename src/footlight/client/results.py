"""What servers answer, as values: tools, contents, and the result of a call (documents 001 and 004)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footlight.client.errors import MCPError
from footlight.client.loose import an_object, items, object_or_none, text

__all__ = ["CallResult", "Content", "Tool", "ToolResult", "error_of", "read_call", "read_result", "read_tool"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the server lists it; `raw` is the entry untouched."""

    name: str
    description: str | None = None
    title: str | None = None
    input_schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True, slots=True)
class Content:
    """One part of a result. `data` is base64; `text` and `data` of an embedded resource are its own."""

    type: str
    """text, image, audio, resource or resource_link."""
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
    """What a tool gave back; `raw` is the server's result untouched."""

    content: Sequence[Content] = ()
    structured_content: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def text(self) -> str:
        """The text parts, a line end between them (R001-39)."""
        return "\n".join(part.text or "" for part in self.content if part.type == "text")


@dataclass(frozen=True, slots=True)
class CallResult:
    """Document 001's form of a result.

    `data` is the text's value if the text is a JSON object or array, else the structured content, else None.
    """

    raw: Mapping[str, Any]
    text: str
    data: Any
    is_error: bool

    def to_dict(self) -> dict[str, Any]:
        """Under the document's names."""
        return {"raw": self.raw, "text": self.text, "data": self.data, "isError": self.is_error}


def read_tool(entry: object) -> Tool:
    """An entry of tools/list (R001-49, R004-13).

    Raises:
        MCPError: it is none.
    """
    raw = object_or_none(entry)
    name = text(raw.get("name")) if raw is not None else None
    if raw is None or not name:
        raise MCPError("The server lists a tool without a name", reason="protocol")
    schema = object_or_none(raw.get("inputSchema"))
    if schema is None:
        raise MCPError(f"The tool {name} has no inputSchema", reason="protocol")
    return Tool(
        name=name,
        description=text(raw.get("description")),
        title=text(raw.get("title")),
        input_schema=schema,
        output_schema=object_or_none(raw.get("outputSchema")),
        annotations=an_object(raw.get("annotations")),
        meta=an_object(raw.get("_meta")),
        raw=raw,
    )


def read_result(raw: Mapping[str, Any]) -> ToolResult:
    """The result of tools/call. What is no content is left out; without `isError` it is none (R001-42)."""
    parts = (an_object(part) for part in items(raw.get("content")))
    return ToolResult(
        content=tuple(_content(part) for part in parts if part.get("type")),
        structured_content=raw.get("structuredContent"),
        is_error=raw.get("isError") is True,
        meta=an_object(raw.get("_meta")),
        raw=raw,
    )


def read_call(raw: Mapping[str, Any]) -> CallResult:
    """R001-37 to R001-42."""
    result = read_result(raw)
    data = _parsed(result.text)
    return CallResult(
        raw=raw,
        text=result.text,
        data=result.structured_content if data is None else data,
        is_error=result.is_error,
    )


def error_of(result: ToolResult) -> tuple[str, Mapping[str, Any] | None]:
    """What a failed result says, and its error as data where it has one.

    An error is `{code?, message, …}` under the key `error`, of the structured content or of the text as JSON.
    The code is said first: people and tests know errors by it. Any other result says its text.
    """
    for answer in (result.structured_content, _parsed(result.text)):
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


def _parsed(written: str) -> Any:
    """R001-40, R001-41."""
    if not written.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return None
