"""How this toolset's answers leave: the result itself, without `{success, data}`.

What is text by nature is plain text. A failure is the message as plain text, then its code and what to do;
the whole error is in `_meta`.
"""

from __future__ import annotations

import json
import typing
from typing import TYPE_CHECKING, Any

import mcp_types as types

from footlight.errors import CODES
from footlight.server.answer import without_page_texts
from footlight.server.envelope import image_parts, link_parts, page_parts
from footlight.server.tool import EVENTS_SCHEMA, OBSERVATION_SCHEMA
from footlight.server.untrusted import META
from footlight.toolsets.szkrabok.parameters import PlainText

if TYPE_CHECKING:
    from footlight.server.answer import Answer
    from footlight.server.tool import Tool

__all__ = ["PlainEnvelope"]

ERROR = "footlight/error"
"""The key in `_meta` of a failure: `{code, message, details, retryable, suggestion}`."""

SUGGESTIONS = {
    "SESSION_NOT_FOUND": "Call session.open first.",
    "ELEMENT_NOT_FOUND": "Look at the page with browser.snapshot. What is loaded later may be there by then.",
    "STALE_REF": "Use the ref of a candidate, or take a new browser.snapshot.",
    "ELEMENT_NOT_INTERACTIVE": "Look at the page with extract.screenshot, remove what is in the way, "
    "then try again.",
    "DIALOG_OPEN": "No tool of this toolset answers dialogs: whoever runs the server can set "
    "session.dialogs to accept or dismiss.",
    "RESOURCE_EXHAUSTED": "Close a session that is not needed with session.close, then try again.",
}
"""In place of ours that name tools of another toolset."""

_OURS = {error.code: error.default_suggestion for error in CODES}


_LINKED: dict[str, Any] = {"resource": {"type": "object"}, "preview": {"type": "string"}}
"""In place of a result that would be too large."""


class PlainEnvelope:
    """Text is the same compact JSON as the structured content, unless the tool answers with text alone."""

    def schema(self, tool: Tool) -> dict[str, Any] | None:
        if _is_text(tool):
            return None
        data = tool.returned_schema
        required: list[str] = data.get("required", [])
        if tool.scope == "page" and tool.effect == "act":
            # One that a dialog cut short tells the dialog, and where the page is.
            required = [name for name in required if name == "url"]
        beside = {} if tool.scope == "server" else EVENTS_SCHEMA
        observed = {"observation": OBSERVATION_SCHEMA} if tool.observed else {}
        linked = _LINKED if tool.scope == "page" else {}
        return {
            "type": "object",
            "properties": {**data.get("properties", {}), **beside, **observed, **linked},
            **({"required": required} if required else {}),
        }

    def result(self, tool: Tool, answer: Answer) -> types.CallToolResult:
        if not answer.success:
            return _failed(answer)
        if _is_text(tool) and "data" in answer.content:
            return _plain(answer)
        content = {**_unwrapped(answer.content)}
        from_page = _parts_from_page(tool, content)
        meta = {META: from_page} if from_page else None
        return types.CallToolResult(
            content=[
                types.TextContent(type="text", text=_json(content), _meta=meta),
                *page_parts(answer),
                *image_parts(answer.images),
                *link_parts(answer.links),
            ],
            structured_content=content,
        )


def _is_text(tool: Tool) -> bool:
    return typing.get_type_hints(tool.function)["return"] is PlainText


def _unwrapped(content: typing.Mapping[str, Any]) -> dict[str, Any]:
    beside = {key: value for key, value in content.items() if key not in ("success", "data")}
    return {**content.get("data", {}), **beside}


def _plain(answer: Answer) -> types.CallToolResult:
    """The text without marks, as it is the whole of the part: `_meta` says whose words it is."""
    data = {**answer.content["data"]}
    text = str(data.pop("text"))
    beside = [types.TextContent(type="text", text=_json(data))] if data else []
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text=text, _meta={META: [""]}),
            *beside,
            *link_parts(answer.links),
        ]
    )


def _failed(answer: Answer) -> types.CallToolResult:
    error = {**answer.content["error"]}
    if error["suggestion"] == _OURS.get(error["code"]):
        error["suggestion"] = SUGGESTIONS.get(error["code"], error["suggestion"])
    beside = {key: value for key, value in answer.content.items() if key not in ("success", "error")}
    if steps := error["details"].get("steps"):
        beside["steps"] = steps  # How far it came is not in the message.
    told = [types.TextContent(type="text", text=_json(beside))] if beside else []
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text=error["message"], _meta={META: [""]}),
            types.TextContent(type="text", text=f"{error['code']}: {error['suggestion']}"),
            *told,
            *page_parts(answer),
            *image_parts(answer.images),
            *link_parts(answer.links),
        ],
        # Not as structured content: that is what the output schema describes, also where it is an error.
        _meta={ERROR: error},
        is_error=True,
    )


def _parts_from_page(tool: Tool, content: dict[str, Any]) -> list[str]:
    """JSON pointers into the content."""
    if tool.untrusted:
        return [""]
    told = ("newPages", "dialogs", "downloads", "observation")
    return [f"/{name}" for name in told if name in content]


def _json(content: dict[str, Any]) -> str:
    return json.dumps(without_page_texts(content), ensure_ascii=False, separators=(",", ":"))
