"""The format of this toolset's answers: `{meta, ok, result}` or `{error, meta, ok}`, as one JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from footlight.app_errors import APP_CODES
from footlight.errors import CODES
from footlight.server.answers import without_page_texts
from footlight.server.protocol.envelope import pointers_to_page_text, text_part

if TYPE_CHECKING:
    from footlight.server.answers import Answer
    from footlight.server.tools import Tool

__all__ = ["MetaEnvelope", "document_code"]

ADDITIONAL_KEYS = ("newPages", "closedPages", "dialogs", "downloads", "healed", "notes", "pageClosed", "cut")
"""Additional keys of results, which are dropped in strict mode."""

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
"""Error codes by the engine's code, for all tools. Other codes depend on the tool."""

SUGGESTIONS = {
    "ELEMENT_NOT_FOUND": "See the screen with {x}_describe_screen, or wait with {x}_wait_for.",
    "STALE_REF": "Take a new {x}_describe_screen, and use its refs.",
    "ELEMENT_NOT_INTERACTIVE": "See the screen with {x}_describe_screen, close or fill in what blocks the "
    "element, then try again.",
    "SESSION_NOT_FOUND": "Launch the app with {x}_launch.",
    "NO_ACTIVE_SESSION": "Launch the app with {x}_launch.",
    "SESSION_ALREADY_RUNNING": "Use the running session, or end it with {x}_cleanup.",
    "BROWSER_CRASHED": "Launch the app again with {x}_launch.",
    "TIMEOUT": "See the screen with {x}_describe_screen, or give a longer timeoutMs.",
    "DIALOG_OPEN": "No tool of this toolset answers dialogs. Ask the server operator to set "
    "session.dialogs to accept or dismiss.",
    "PAGE_CLOSED": "Calls now work in a remaining page: see it with {x}_describe_screen.",
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


def document_code(tool: str, code: str) -> str:
    """Return the error code, without prefix, of a tool named without prefix."""
    if code == "BROWSER_CRASHED" and tool == "launch":
        return "LAUNCH_FAILED"  # A launch has no session yet that could have ended.
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
    """Formats answers. `prefix` is the prefix of tool names and, in capitals, of error codes."""

    def __init__(self, *, prefix: str, strict: bool) -> None:
        self._prefix = prefix
        self._strict = strict

    def schema(self, tool: Tool) -> None:
        """Return None: an answer is one text, without structured content."""
        del tool

    def result(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        meta = {
            "timestamp": _now(),
            **({"sessionId": answer.session_id} if answer.session_id else {}),
            "durationMs": answer.duration_ms,
        }
        envelope: dict[str, Any] = {"meta": meta, "ok": answer.success}
        if answer.success:
            envelope["result"] = self._result(tool, answer)
        else:
            envelope = {"error": self._error(tool, answer), **envelope}
        text = json.dumps(without_page_texts(envelope), ensure_ascii=False, separators=(",", ":"))
        from_page = ["/result" if answer.success else "/error"] if pointers_to_page_text(tool, answer) else []
        return {"content": [text_part(text, from_page)], "isError": not answer.success}

    def _result(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        data: Mapping[str, Any] = answer.content.get("data", {})
        if tool.batch:
            data = {**data, "steps": [self._step(step) for step in data["steps"]]}
        return {key: value for key, value in data.items() if not (self._strict and key in ADDITIONAL_KEYS)}

    def _error(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        error: Mapping[str, Any] = answer.content["error"]
        details: dict[str, Any] = {
            **error["details"],
            "suggestion": self._suggestion(error),
            "retryable": error["retryable"],
        }
        if tool.batch and "done" in details:
            details["done"] = [self._step(step) for step in details["done"]]
        # The error of a step gets the code of the step's tool.
        name: str = details.get("tool", tool.name)
        code: str = error["code"]
        message: str = error["message"]
        if details.get("parameter") == "pageId":  # No tool here has it: the page closed under the call.
            code, message = "PAGE_CLOSED", message.removeprefix("pageId: ")
            del details["parameter"]
        return {"code": self._code(name, code), "message": message, "details": details}

    def _suggestion(self, error: Mapping[str, Any]) -> str:
        """Return the error's suggestion, or ours in place of one that names tools of another toolset."""
        suggestion, own = error["suggestion"], SUGGESTIONS.get(error["code"])
        if error["details"].get("parameter") == "pageId":
            own, suggestion = SUGGESTIONS["PAGE_CLOSED"], None
        return (
            own.format(x=self._prefix)
            if own and suggestion in (None, _OURS.get(error["code"]))
            else str(suggestion)
        )

    def _step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        if "error" not in step:
            return {**step}
        error = step["error"]
        return {**step, "error": {**error, "code": self._code(step["tool"], error["code"])}}

    def _code(self, tool: str, code: str) -> str:
        return f"{self._prefix.upper()}_{document_code(tool.removeprefix(f'{self._prefix}_'), code)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
