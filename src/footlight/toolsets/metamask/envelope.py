"""The envelope of document 002: `{meta, ok, result}` or `{error, meta, ok}`, as one JSON text.

R002-27 to R002-31.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import mcp_types as types

from footlight.server.answer import without_page_texts
from footlight.server.untrusted import META

if TYPE_CHECKING:
    from footlight.server.answer import Answer
    from footlight.server.tool import Tool

__all__ = ["MetaEnvelope", "code_of"]

EVENTS = ("newPages", "closedPages", "dialogs", "downloads", "healed")
"""What is told beside the result, where the document need not be kept to the letter."""

_ALWAYS = {
    "MISSING_PARAMETER": "INVALID_INPUT",
    "INVALID_PARAMETER": "INVALID_INPUT",
    "INVALID_URL": "INVALID_INPUT",
    "INVALID_SELECTOR": "INVALID_INPUT",
    "PERMISSION_DENIED": "INVALID_INPUT",
    "STALE_REF": "TARGET_NOT_FOUND",
    "SESSION_NOT_FOUND": "NO_ACTIVE_SESSION",
    "BROWSER_CRASHED": "NO_ACTIVE_SESSION",
    "BROWSER_NOT_INSTALLED": "DEPENDENCIES_MISSING",
    "BUILD_FAILED": "BUILD_FAILED",
    "DEPENDENCIES_MISSING": "DEPENDENCIES_MISSING",
    "SESSION_ALREADY_RUNNING": "SESSION_ALREADY_RUNNING",
    "LAUNCH_FAILED": "LAUNCH_FAILED",
    "INVALID_CONFIG": "INVALID_CONFIG",
    "PORT_IN_USE": "PORT_IN_USE",
    "NO_ACTIVE_SESSION": "NO_ACTIVE_SESSION",
    "NOTIFICATION_TIMEOUT": "NOTIFICATION_TIMEOUT",
}
"""By the engine's code (requirements §3). The rest depends on the tool."""

_OF_TOOL = {
    "build": "BUILD_FAILED",
    "launch": "LAUNCH_FAILED",
    "navigate": "NAVIGATION_FAILED",
    "wait_for_notification": "NOTIFICATION_TIMEOUT",
    "click": "CLICK_FAILED",
    "type": "TYPE_FAILED",
    "wait_for": "WAIT_TIMEOUT",
    "screenshot": "SCREENSHOT_FAILED",
    "list_testids": "DISCOVERY_FAILED",
    "accessibility_snapshot": "DISCOVERY_FAILED",
    "describe_screen": "DISCOVERY_FAILED",
    "get_state": "DISCOVERY_FAILED",
    "get_text": "DISCOVERY_FAILED",
}


def code_of(tool: str, code: str) -> str:
    """The document's code without its prefix, of a tool by its name without prefix."""
    if code in _ALWAYS:
        return _ALWAYS[code]
    if code == "ELEMENT_NOT_FOUND" and tool != "wait_for":
        return "TARGET_NOT_FOUND"
    if code == "INTERNAL_ERROR" or tool not in _OF_TOOL:
        return "KNOWLEDGE_ERROR" if tool.startswith("knowledge") else "INTERNAL_ERROR"
    return _OF_TOOL[tool]


class MetaEnvelope:
    """`prefix` is that of the tools' names, and in capitals that of the codes."""

    def __init__(self, *, prefix: str, strict: bool) -> None:
        self._prefix = prefix
        self._strict = strict

    def schema(self, tool: Tool) -> None:
        """The document knows no structured content: an answer is one text."""
        del tool

    def result(self, tool: Tool, answer: Answer) -> types.CallToolResult:
        meta = {
            "timestamp": _now(),
            **({"sessionId": answer.session_id} if answer.session_id else {}),
            "durationMs": answer.duration_ms,
        }
        told: dict[str, Any] = {"meta": meta, "ok": answer.success}
        if answer.success:
            told["result"] = self._result(answer)
        else:
            told = {"error": self._error(tool, answer), **told}
        text = json.dumps(without_page_texts(told), ensure_ascii=False, separators=(",", ":"))
        from_page = [] if tool.scope == "server" else ["/result" if answer.success else "/error"]
        return types.CallToolResult(
            content=[
                types.TextContent(type="text", text=text, _meta={META: from_page} if from_page else None)
            ],
            is_error=not answer.success,
        )

    def _result(self, answer: Answer) -> dict[str, Any]:
        data: Mapping[str, Any] = answer.content.get("data", {})
        return {key: value for key, value in data.items() if not (self._strict and key in EVENTS)}

    def _error(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        error: Mapping[str, Any] = answer.content["error"]
        code = code_of(tool.name.removeprefix(f"{self._prefix}_"), error["code"])
        details = {**error["details"], "suggestion": error["suggestion"], "retryable": error["retryable"]}
        return {"code": f"{self._prefix.upper()}_{code}", "message": error["message"], "details": details}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
