"""The format of this toolset's answers: the result itself, without `{success, data}`.

A text is plain text. A failure is the message as plain text, then its code and suggestion; the whole error is
in `_meta`.
"""

from __future__ import annotations

import json
import typing
from typing import TYPE_CHECKING, Any

from footlight.errors import CODES
from footlight.server.answers import without_page_texts
from footlight.server.answers.untrusted import META, WHOLE, point_into_meta
from footlight.server.protocol.envelope import (
    image_parts,
    link_parts,
    page_parts,
    pointers_to_page_text,
    text_part,
)
from footlight.server.tools.schema import EVENTS_SCHEMA, OBSERVATION_SCHEMA
from footlight.toolsets.szkrabok.parameters import PlainText

if TYPE_CHECKING:
    from footlight.server.answers import Answer
    from footlight.server.tools import Tool

__all__ = ["PlainEnvelope"]

ERROR = "footlight/error"
"""The key in `_meta` of a failure: `{code, message, details, retryable, suggestion}`."""

SUGGESTIONS = {
    "SESSION_NOT_FOUND": "Call session.open first.",
    "ELEMENT_NOT_FOUND": "Look at the page with browser.snapshot. The element may appear later.",
    "STALE_REF": "Use the ref of a candidate, or take a new browser.snapshot.",
    "ELEMENT_NOT_INTERACTIVE": "Look at the page with extract.screenshot, remove what covers or disables "
    "the element, then try again.",
    "DIALOG_OPEN": "No tool of this toolset answers dialogs. Ask the server operator to set "
    "session.dialogs to accept or dismiss.",
    "RESOURCE_EXHAUSTED": "Close a session that is not needed with session.close, then try again.",
}
"""Suggestions that name tools of this toolset, in place of the default ones."""

_OURS = {error.code: error.default_suggestion for error in CODES}


_LINKED: dict[str, Any] = {"resource": {"type": "object"}, "preview": {"type": "string"}}
"""The keys that replace a result that is too large."""


class PlainEnvelope:
    """Sends the result as structured content and as JSON text, or as plain text alone."""

    def schema(self, tool: Tool) -> dict[str, Any] | None:
        if _answers_text(tool):
            return None
        data = tool.returned_schema
        required: list[str] = data.get("required", [])
        if tool.scope == "page" and tool.effect == "act":
            # An action that a dialog interrupted reports only the dialog and the URL.
            required = [name for name in required if name == "url"]
        events = {} if tool.scope == "server" else EVENTS_SCHEMA
        observed = {"observation": OBSERVATION_SCHEMA} if tool.observed else {}
        linked = _LINKED if tool.scope == "page" else {}
        return {
            "type": "object",
            "properties": {**data.get("properties", {}), **events, **observed, **linked},
            **({"required": required} if required else {}),
        }

    def result(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        if not answer.success:
            return _error_result(answer)
        if _answers_text(tool) and "data" in answer.content:
            return _text_result(answer)
        content = {**_unwrap(answer.content)}
        from_page = _unwrap_parts(pointers_to_page_text(tool, answer))
        return {
            "content": [
                text_part(_to_json(content), from_page),
                *page_parts(answer),
                *image_parts(answer.images),
                *link_parts(answer.links),
            ],
            "structuredContent": content,
            "isError": False,
        }


def _answers_text(tool: Tool) -> bool:
    return typing.get_type_hints(tool.function)["return"] is PlainText


def _unwrap(content: typing.Mapping[str, Any]) -> dict[str, Any]:
    # The effect of an action is no part of this toolset's answers.
    extra = {
        key: value for key, value in content.items() if key not in ("success", "data", "effect", "reason")
    }
    return {**content.get("data", {}), **extra}


def _text_result(answer: Answer) -> dict[str, Any]:
    """Return an answer that is plain text. `_meta` marks the text as coming from the page."""
    data = {**answer.content["data"]}
    text = str(data.pop("text"))
    other_parts = [text_part(_to_json(data), WHOLE)] if data else []
    return {
        "content": [text_part(text, WHOLE), *other_parts, *link_parts(answer.links)],
        "isError": False,
    }


def _error_result(answer: Answer) -> dict[str, Any]:
    error = {**answer.content["error"]}
    if error["suggestion"] == _OURS.get(error["code"]):
        error["suggestion"] = SUGGESTIONS.get(error["code"], error["suggestion"])
    extra = {key: value for key, value in answer.content.items() if key not in ("success", "error")}
    if steps := error["details"].get("steps"):
        extra["steps"] = steps  # The message does not say which steps were done.
    other_parts = [text_part(_to_json(extra), WHOLE)] if extra else []
    return {
        "content": [
            text_part(error["message"], WHOLE),
            text_part(f"{error['code']}: {error['suggestion']}"),
            *other_parts,
            *page_parts(answer),
            *image_parts(answer.images),
            *link_parts(answer.links),
        ],
        # Not as structured content, which would have to match the output schema.
        "_meta": {ERROR: error, META: point_into_meta(ERROR)},
        "isError": True,
    }


def _unwrap_parts(parts: list[str]) -> list[str]:
    """Return the paths of parts after the keys of `data` moved to the top level."""
    return WHOLE if "/data" in parts else [part.removeprefix("/data") for part in parts]


def _to_json(content: dict[str, Any]) -> str:
    return json.dumps(without_page_texts(content), ensure_ascii=False, separators=(",", ":"))
