"""The tools of `footlight serve`, whose answers are `{success, data}` or `{success, error}`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from footlight.browser_client.dialects.dialect import ensure_tool
from footlight.browser_client.results import (
    MAX_SNAPSHOT_BYTES,
    InvalidResultError,
    NavigateResult,
    ScreenshotResult,
    SnapshotResult,
)
from footlight.protocol.errors import MCPError, ToolInvocationError
from footlight.protocol.untrusted_json import an_object, integer, items, object_or_none, text

if TYPE_CHECKING:
    from footlight.browser_client.operation import Operation
    from footlight.browser_client.results import ImageFormat
    from footlight.protocol.results import ToolResult
    from footlight.protocol.tools import Tool

__all__ = ["FootlightDialect"]

RETURN_MS = 1_500
"""The server gets less than the remaining time, so that its error, which comes up to a second after its own
deadline, can say what it waited for.
"""
MIN_SHARE = 0.8
"""The share of a short remaining time that the server gets at least."""
_TRUTHS = {"true": True, "false": False}


class FootlightDialect:
    """Works in the given session or the caller's default session.

    If there is neither, it creates a session.
    """

    server: ClassVar[str] = "footlight serve"
    needs: ClassVar[frozenset[str]] = frozenset({"navigate", "screenshot", "snapshot", "click"})

    def __init__(self, *, session: str | None = None) -> None:
        self.tools: Mapping[str, Tool] = {}
        self._session = session

    async def navigate(self, operation: Operation, url: str, *, titled: bool = True) -> NavigateResult:
        """Open the URL. `titled`: ask for the title too, in a second call."""
        data = await self._data(operation, "navigate", {"url": url, "observe": "none"})
        return NavigateResult(
            success=True,
            url=text(data.get("finalUrl")) or text(data.get("url")) or "",
            title=await self._title(operation) if titled else None,
            status=integer(data.get("status")),
        )

    async def _title(self, operation: Operation) -> str | None:
        if "get_page_metadata" in self.tools:
            seen = await self._data(operation, "get_page_metadata", {})
        else:
            seen = await self._data(operation, "snapshot", {"depth": 1, "budget": 200})
        return text(seen.get("title")) or None

    async def screenshot(
        self, operation: Operation, *, format: ImageFormat, full_page: bool
    ) -> ScreenshotResult:
        result = await self._call(operation, "screenshot", {"type": format, "fullPage": full_page})
        image = next((part.data for part in result.content if part.type == "image"), None)
        return ScreenshotResult.of(image or await self._read_linked_image(operation, result))

    async def snapshot(self, operation: Operation) -> SnapshotResult:
        data = await self._data(operation, "snapshot", {"format": "json", "budget": MAX_SNAPSHOT_BYTES})
        if data.get("cut"):
            raise InvalidResultError(f"snapshot has more than {MAX_SNAPSHOT_BYTES} bytes")
        nodes: Any = items(data.get("nodes"))
        return SnapshotResult.of(nodes, url=text(data.get("url")) or "", title=text(data.get("title")))

    async def click(self, operation: Operation, selector: str) -> None:
        await self._data(operation, "click", {"selector": selector, "observe": "none"})

    async def fill_form(self, operation: Operation, fields: Mapping[str, str]) -> None:
        if "fill_form" not in self.tools:
            ensure_tool(self.tools, "fill", hint="start it with --tools default")
            for selector, value in fields.items():
                arguments = {"selector": selector, "value": value, "observe": "none"}
                await self._data(operation, "fill", arguments)
            return
        values: dict[str, str | bool] = {**fields}
        # The error names the field that must be checked, not filled. Filling the others again
        # changes nothing.
        while True:
            try:
                await self._data(operation, "fill_form", {"fields": values, "observe": "none"})
                return
            except ToolInvocationError as error:
                refused = _find_refused_field(error, values)
                truth = _TRUTHS.get(fields[refused]) if refused else None
                if refused is None or truth is None or values[refused] == truth:
                    raise
                values[refused] = truth

    async def evaluate(
        self, operation: Operation, script: str, *, settles: bool = True, isolated: bool = False
    ) -> Any:
        """Run a script and return its value.

        Args:
            settles: wait first for what the script started.
            isolated: run it in a world that the page cannot change.
        """
        ensure_tool(self.tools, "evaluate", hint="start it with --enable-script-evaluation")
        more = {**({} if settles else {"settle": "none"}), **({"isolated": True} if isolated else {})}
        data = await self._data(operation, "evaluate", {"script": script, "observe": "none", **more})
        return data.get("result")

    async def close(self, operation: Operation) -> None:
        if "close_session" not in self.tools:
            return
        session, self._session = self._session or "default", None
        try:
            await operation.call("close_session", {"sessionId": session})
        except ToolInvocationError as error:
            if _error(error).get("code") != "SESSION_NOT_FOUND":
                raise

    async def _data(self, operation: Operation, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the tool's data. If the answer was too long to be sent, read the data from its resource."""
        answer = an_object((await self._call(operation, tool, arguments)).structured_content)
        link = text(an_object(answer.get("resource")).get("uri"))
        if link is not None:
            answer = an_object(_parse_json(await operation.read(link)))
        data = object_or_none(answer.get("data"))
        if data is None:
            raise InvalidResultError("the answer has no data")
        return data

    async def _call(self, operation: Operation, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            return await operation.call(tool, self._complete(operation, arguments))
        except ToolInvocationError as error:
            if self._session is not None or not _wants_session(error):
                raise
        made = await operation.call("create_session", {})
        data = an_object(an_object(made.structured_content).get("data"))
        self._session = text(data.get("sessionId"))
        return await operation.call(tool, self._complete(operation, arguments))

    def _complete(self, operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
        left_ms = operation.left_ms
        session = {} if self._session is None else {"sessionId": self._session}
        return {**session, **arguments, "timeout": int(max(left_ms - RETURN_MS, left_ms * MIN_SHARE, 1))}

    async def _read_linked_image(self, operation: Operation, result: ToolResult) -> str:
        """Return an image that was too large for the answer, which only links to it."""
        link = next((part.uri for part in result.content if part.type == "resource_link"), None)
        if link is not None:
            for content in await operation.read(link):
                if content.blob:
                    return content.blob
        raise InvalidResultError("the answer has no image")

    def translate_error(self, error: ToolInvocationError, operation: Operation) -> MCPError:
        fields = _error(error)
        message = " ".join(filter(None, (text(fields.get("message")), text(fields.get("suggestion")))))
        if fields.get("code") == "TIMEOUT":
            return operation.timeout_error(because=text(fields.get("message")))
        return ToolInvocationError(
            message or error.message,
            tool_name=error.tool_name,
            tool_args=error.tool_args,
            reason=error.reason,
            rpc_code=error.rpc_code,
            data=error.data if error.data is not None else dict(fields) or None,
            status=error.status,
            result=error.result,
        )


def _error(error: ToolInvocationError) -> Mapping[str, Any]:
    """Return the server's own error, with `code`, `message`, `details` and `suggestion`."""
    return an_object(an_object(getattr(error.result, "structured_content", None)).get("error"))


def _wants_session(error: ToolInvocationError) -> bool:
    fields = _error(error)
    parameter = an_object(fields.get("details")).get("parameter")
    return fields.get("code") == "MISSING_PARAMETER" and parameter == "sessionId"


def _find_refused_field(error: ToolInvocationError, values: Mapping[str, object]) -> str | None:
    """Return the selector of the field that did not accept its value, or None for another error."""
    fields = _error(error)
    index = integer(an_object(fields.get("details")).get("field"))
    if fields.get("code") != "INVALID_PARAMETER" or index is None:
        return None
    return next(itertools.islice(values, index, None), None) if index >= 0 else None


def _parse_json(contents: Any) -> object:
    try:
        return json.loads("".join(content.text or "" for content in contents))
    except (ValueError, RecursionError):
        raise InvalidResultError("the linked answer is not JSON") from None
