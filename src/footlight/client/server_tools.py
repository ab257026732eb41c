"""List and call the tools of a server, over any transport and revision of the protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from footlight.client.server_listings import request_pages
from footlight.protocol.callbacks import NO_HANDLER
from footlight.protocol.connection import OnProgress, Result
from footlight.protocol.errors import MCPError, MCPTimeoutError, ToolInvocationError
from footlight.protocol.param_headers import check_annotations, mirror_arguments
from footlight.protocol.results import error_of
from footlight.protocol.tools import InvalidToolError
from footlight.protocol.versions import is_stateless

if TYPE_CHECKING:
    from footlight.client.client_session import ClientSession
    from footlight.client.tool_list import ToolList
    from footlight.protocol.deadline import CallDeadline
    from footlight.protocol.results import ToolResult
    from footlight.protocol.tools import Tool

__all__ = ["ServerTools", "check_success", "find_tool", "has_words"]


class ServerTools:
    """Lists and calls the tools of a session's server.

    In the stateless protocol over HTTP, a call repeats those arguments in headers that have an `x-mcp-header`
    annotation in the tool's schema. Tools with invalid annotations are left out of the list.
    """

    def __init__(self, session: ClientSession, tools: ToolList) -> None:
        self._session = session
        self._tools = tools

    def forget(self) -> None:
        """Discard the cached list, because the server has reported a change."""
        self._tools.forget()

    async def list_tools(self, deadline: CallDeadline, *, refresh: bool = False) -> tuple[Tool, ...]:
        """Return all tools, from the cache or from the server.

        Raises:
            MCPTimeoutError: the deadline passed.
        """
        _, introduction = await self._session.ensure_connected(deadline)
        uses_param_headers = is_stateless(introduction.version) and self._session.http is not None
        try:
            # The limit includes waiting for a list that another task has requested.
            async with deadline.limit("tools/list"):
                return await self._tools.get(
                    lambda: request_pages(self._session, "tools/list", deadline=deadline),
                    refresh=refresh,
                    check=_check_annotations if uses_param_headers else None,
                )
        except MCPTimeoutError:
            raise deadline.make_timeout_error(
                f"tools/list had no answer within {deadline.timeout_ms:.0f}ms"
            ) from None

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        deadline: CallDeadline,
        on_progress: OnProgress | None,
    ) -> Result:
        """Call a tool and return the server's answer, even if the tool failed.

        Raises:
            ToolInvocationError: the server refused the call.
            MCPTimeoutError: the deadline passed, while the tool or a handler of the client was running.
        """
        # Connect before the call, so that an unreachable server is not reported as a failure of the tool.
        headers = await self._param_headers(name, arguments or {}, deadline)
        params = {"name": name, "arguments": arguments or {}}
        try:
            return await self._session.request(
                "tools/call",
                params,
                deadline=deadline,
                on_progress=on_progress,
                headers=headers,
                unanswered=f"The tool {name} did not respond",
            )
        except MCPTimeoutError as error:
            error.tool_name = error.tool_name or name
            raise
        except MCPError as error:
            if error.reason != "peer":
                raise
            raise _as_tool_error(error, name, arguments) from error

    async def _param_headers(
        self, name: str, arguments: Mapping[str, Any], deadline: CallDeadline
    ) -> Mapping[str, str]:
        _, introduction = await self._session.ensure_connected(deadline)
        if not is_stateless(introduction.version) or self._session.http is None:
            return {}
        # Use an expired list too. Many servers forbid caching, so it would be requested before every call.
        tool = self._tools.last_seen(name) or find_tool(name, await self.list_tools(deadline))
        return {} if tool is None else mirror_arguments(tool.input_schema, arguments)


def find_tool(name: str, tools: Sequence[Tool]) -> Tool | None:
    """Return the tool with this name, or None."""
    return next((tool for tool in tools if tool.name == name), None)


def has_words(tool: Tool, words: Sequence[str]) -> bool:
    """Return whether the name, title or description of the tool has all these lower-case words."""
    described = f"{tool.name} {tool.title or ''} {tool.description or ''}".lower()
    return all(word in described for word in words)


def check_success(result: ToolResult, name: str, arguments: Mapping[str, Any] | None) -> None:
    """Raise the error that the tool reports in its result.

    Raises:
        ToolInvocationError: the result is an error.
    """
    if not result.is_error:
        return
    message, error = error_of(result)
    raise ToolInvocationError(
        message or f"The tool {name} failed without a message",
        tool_name=name,
        tool_args=arguments,
        reason="unknown_tool" if _names_unknown_tool(message, name) else "tool",
        data=error,
        result=result,
    )


def _check_annotations(tool: Tool) -> None:
    """Check the tool's `x-mcp-header` annotations, which must be valid for calls over HTTP.

    Raises:
        InvalidToolError: an annotation is not valid.
    """
    try:
        check_annotations(tool.input_schema)
    except MCPError as error:
        raise InvalidToolError(f"The tool {tool.name!r} cannot be used: {error}", reason="protocol") from None


def _as_tool_error(error: MCPError, name: str, arguments: Mapping[str, Any] | None) -> ToolInvocationError:
    """Convert the server's error to an error of the tool. Both SDKs send -32602 for an unknown tool."""
    no_handler = error.rpc_code == -32601 and error.message.startswith(NO_HANDLER)
    unknown = error.rpc_code == -32601 or (
        error.rpc_code == -32602 and _names_unknown_tool(error.message, name)
    )
    tool_error = ToolInvocationError(
        error.message,
        tool_name=name,
        tool_args=arguments,
        reason="protocol" if no_handler else "unknown_tool" if unknown else "peer",
        rpc_code=error.rpc_code,
        data=error.data,
        status=error.status,
    )
    tool_error.retry_after_ms = error.retry_after_ms
    return tool_error


def _names_unknown_tool(message: str, name: str) -> bool:
    """Return whether the message is one that known servers send if there is no such tool."""
    before = "(unknown tool|no such tool|tool not found)"
    quoted = rf"['\"`]?{re.escape(name)}['\"`]?"
    wrapped = r"(MCP error -?\d+: |### Error\s+)?"
    pattern = rf"{wrapped}({before}:? {quoted}|tool:? {quoted} (was )?not found)(?!\w).{{0,100}}"
    return re.fullmatch(pattern, message.strip(), re.IGNORECASE | re.DOTALL) is not None
