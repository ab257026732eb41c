"""The envelope of document 002: `{meta, ok, result}` or `{error, meta, ok}`, as one JSON text.

R002-27 to R002-31.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import mcp_types as types

from footlight.errors import APP_CODES, CODES
from footlight.server.answer import without_page_texts
from footlight.server.untrusted import META

if TYPE_CHECKING:
    from footlight.server.answer import Answer
    from footlight.server.tool import Tool

__all__ = ["MetaEnvelope", "code_of"]

EVENTS = ("newPages", "closedPages", "dialogs", "downloads", "healed", "notes")
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

SUGGESTIONS = {
    "ELEMENT_NOT_FOUND": "See the screen with {x}_describe_screen; {x}_wait_for waits for what comes later.",
    "STALE_REF": "Take a new {x}_describe_screen, and use its refs.",
    "ELEMENT_NOT_INTERACTIVE": "See the screen with {x}_describe_screen, close or fill in what is in the "
    "way, then try again.",
    "SESSION_NOT_FOUND": "Launch the app with {x}_launch.",
    "NO_ACTIVE_SESSION": "Launch the app with {x}_launch.",
    "SESSION_ALREADY_RUNNING": "Use the session that runs, or end it with {x}_cleanup.",
    "BROWSER_CRASHED": "Launch the app again with {x}_launch.",
    "TIMEOUT": "Look at what is there with {x}_describe_screen, or give a longer timeoutMs.",
    "DIALOG_OPEN": "No tool of this toolset answers dialogs: whoever runs the server can set "
    "session.dialogs to accept or dismiss.",
    "PAGE_CLOSED": "Calls work in the page that is left: see it with {x}_describe_screen.",
}
_OURS = {error.code: error.default_suggestion for error in (*CODES, *APP_CODES)}

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
    if code == "TIMEOUT" and tool not in _OF_TOOL:
        return "WAIT_TIMEOUT"
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
            told["result"] = self._result(tool, answer)
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

    def _result(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        data: Mapping[str, Any] = answer.content.get("data", {})
        if tool.batch:
            data = {**data, "steps": [self._step(step) for step in data["steps"]]}
        return {key: value for key, value in data.items() if not (self._strict and key in EVENTS)}

    def _error(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        error: Mapping[str, Any] = answer.content["error"]
        details: dict[str, Any] = {
            **error["details"],
            "suggestion": self._suggestion(error),
            "retryable": error["retryable"],
        }
        if tool.batch and "done" in details:
            details["done"] = [self._step(step) for step in details["done"]]
        # A step's error is told as that of its own tool.
        name: str = details.get("tool", tool.name)
        code: str = error["code"]
        message: str = error["message"]
        if details.get("parameter") == "pageId":  # No tool here has it: the page closed under the call.
            code, message = "PAGE_CLOSED", message.removeprefix("pageId: ")
            del details["parameter"]
        return {"code": self._code(name, code), "message": message, "details": details}

    def _suggestion(self, error: Mapping[str, Any]) -> str:
        """In place of those that name tools of another toolset."""
        said, own = error["suggestion"], SUGGESTIONS.get(error["code"])
        if error["details"].get("parameter") == "pageId":
            own, said = SUGGESTIONS["PAGE_CLOSED"], None
        return own.format(x=self._prefix) if own and said in (None, _OURS.get(error["code"])) else str(said)

    def _step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        if "error" not in step:
            return {**step}
        error = step["error"]
        return {**step, "error": {**error, "code": self._code(step["tool"], error["code"])}}

    def _code(self, tool: str, code: str) -> str:
        return f"{self._prefix.upper()}_{code_of(tool.removeprefix(f'{self._prefix}_'), code)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
