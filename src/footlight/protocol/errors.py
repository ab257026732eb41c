"""The errors of calls to a server, and their codes.

The class determines what the caller can do next. `reason` is the cause, which functions such as `is_timeout`
and `is_session_expired` test. `rpc_code` is a JSON-RPC code of the client or the server. Do not compare it
alone, because the client and the SDKs use the same codes for different errors. No error contains a session
id, a token or a stack trace, unless it is in the result of a tool, which is not changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from footlight.safe_text import replace_surrogates

if TYPE_CHECKING:
    from footlight.protocol.results import ToolResult

__all__ = [
    "SECRET_NAME",
    "MCPConnectionError",
    "MCPError",
    "MCPTimeoutError",
    "Reason",
    "ServerNotAvailableError",
    "ToolInvocationError",
    "is_network_error",
    "is_session_expired",
    "is_timeout",
    "is_tool_not_found",
]

Reason = Literal[
    "timeout",
    "session_expired",
    "network",
    "spawn",
    "handshake",
    "protocol",
    "http",
    "peer",
    "tool",
    "unknown_tool",
    "invalid",
    "not_connected",
]
"""What happened:

- `timeout`: the client's own deadline passed.
- `session_expired`: the HTTP session is gone; the next call begins another.
- `network`: refused, reset, no such host, TLS; the process or the connection ended.
- `spawn`: the command could not be started.
- `handshake`: the peer is not an MCP server, or there is no common revision of the protocol.
- `protocol`: the server sent something that is not a message, or not the answer.
- `http`: the HTTP status is an error, and the body has no JSON-RPC error; `status` has it.
- `peer`: the server answered with a JSON-RPC error.
- `tool`: the tool ran and failed (`isError`).
- `unknown_tool`: the server has no such tool.
- `invalid`: the client refused the call before anything was sent.
- `not_connected`: there is no connection.
"""

LOCAL_CODES: Mapping[Reason, int] = {
    "timeout": -32000,
    "session_expired": -32000,
    "network": -32001,
    "spawn": -32001,
    "handshake": -32600,
    "protocol": -32600,
    "http": -32603,
    "tool": -32603,
    "unknown_tool": -32601,
    "invalid": -32602,
    "not_connected": -32001,
}
"""The codes of errors without a code from the server."""

SECRET_NAME = re.compile(
    r"pass(?:w|phrase|code|key|\Z)|secret|token|authori[sz]ation|bearer|basic.?auth|(?:api|private).?key|cookie"
    r"|credential|mnemonic|(?:seed|recovery).?phrase|\botp\b"
    r"|mot.?de.?passe|contrase[nñ]a|kennwort|senha|wachtwoord",
    re.IGNORECASE,
)
"""Matches the names of values that are masked."""


class MCPError(Exception):
    """The base class of all errors. `data` is the server's error data, or the body of an HTTP error."""

    code: ClassVar[str] = "MCP_ERROR"
    name: ClassVar[str] = "MCPError"

    def __init__(
        self,
        message: str,
        /,
        *,
        reason: Reason = "peer",
        rpc_code: int | None = None,
        data: Any = None,
        status: int | None = None,
    ) -> None:
        message = replace_surrogates(message)  # An unpaired surrogate of a server could not be printed.
        super().__init__(message)
        self.message = message
        self.reason: Reason = reason
        self.rpc_code = LOCAL_CODES.get(reason) if rpc_code is None else rpc_code
        self.data = data
        self.status = status
        self.retry_after_ms: float | None = None
        """The time to wait before a retry, if the server has sent `Retry-After`, as with 429 or 503."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not None, as JSON values. Arguments with secret names are masked."""
        fields = {
            "name": self.name,
            "code": self.code,
            "message": self.message,
            "reason": self.reason,
            "rpcCode": self.rpc_code,
            "status": self.status,
            "retryAfterMs": self.retry_after_ms,
            "data": self.data,
            **self._own_fields(),
        }
        return {name: value for name, value in fields.items() if value is not None}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), default=str)

    def _own_fields(self) -> dict[str, Any]:
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep all attributes when the error is copied or pickled."""
        return _restore, (type(self), self.message, self.__dict__.copy())


def _restore(kind: type[MCPError], message: str, state: dict[str, Any]) -> MCPError:
    error = cast("Any", kind).__new__(kind, message)
    error.args = (message,)  # OSError sets them only in `__init__`.
    error.__dict__.update(state)
    return error


class _ServerError(MCPError, ConnectionError):
    """An error of a server. `server_command` is its command, if the client has started it."""

    def __init__(
        self,
        message: str,
        /,
        *,
        reason: Reason = "network",
        server_command: str | None = None,
        rpc_code: int | None = None,
        data: Any = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message, reason=reason, rpc_code=rpc_code, data=data, status=status)
        self.server_command = server_command

    def _own_fields(self) -> dict[str, Any]:
        return {"serverCommand": self.server_command}


class MCPConnectionError(_ServerError):
    """The connection could not be made or was lost, or its HTTP session expired."""

    code = "CONNECTION_ERROR"
    name = "ConnectionError"


class ServerNotAvailableError(_ServerError):
    """No server is running or reachable."""

    code = "SERVER_NOT_AVAILABLE"
    name = "ServerNotAvailableError"


class MCPTimeoutError(MCPError, TimeoutError):
    """The client's deadline of `timeout_ms` passed. A request that was sent was cancelled at the server."""

    code = "TIMEOUT_ERROR"
    name = "TimeoutError"

    def __init__(self, message: str, /, *, timeout_ms: float, tool_name: str | None = None) -> None:
        super().__init__(message, reason="timeout")
        self.timeout_ms = timeout_ms
        self.tool_name = tool_name

    def _own_fields(self) -> dict[str, Any]:
        return {"toolName": self.tool_name, "timeout": self.timeout_ms}


class ToolInvocationError(MCPError):
    """A tool was not run, or it failed. `result` is the whole result, if there was one."""

    code = "TOOL_INVOCATION_ERROR"
    name = "ToolInvocationError"

    def __init__(
        self,
        message: str,
        /,
        *,
        tool_name: str,
        tool_args: Mapping[str, Any] | None = None,
        reason: Reason = "tool",
        rpc_code: int | None = None,
        data: Any = None,
        status: int | None = None,
        result: ToolResult | None = None,
    ) -> None:
        super().__init__(message, reason=reason, rpc_code=rpc_code, data=data, status=status)
        self.tool_name = tool_name
        self.tool_args = tool_args
        self.result = result

    def _own_fields(self) -> dict[str, Any]:
        masked = None if self.tool_args is None else _mask_secrets(self.tool_args)
        return {"toolName": self.tool_name, "toolArgs": masked}


def _mask_secrets(value: object) -> object:
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {key: "***" if SECRET_NAME.search(str(key)) else _mask_secrets(each) for key, each in entries}
    if isinstance(value, (list, tuple)):
        return [_mask_secrets(each) for each in cast("list[object]", value)]
    return value


def is_tool_not_found(error: BaseException) -> bool:
    """Return whether the server has no such tool."""
    return isinstance(error, MCPError) and (
        error.reason == "unknown_tool" or (error.reason == "peer" and error.rpc_code == -32601)
    )


def is_timeout(error: BaseException) -> bool:
    """Return whether the client's deadline passed."""
    return isinstance(error, MCPError) and error.reason == "timeout"


def is_session_expired(error: BaseException) -> bool:
    """Return whether the HTTP session has expired. Never true if `is_timeout` is."""
    return isinstance(error, MCPError) and error.reason == "session_expired"


def is_network_error(error: BaseException) -> bool:
    """Return whether the server could not be started or reached, was disconnected, or was never connected.

    These are the reasons `spawn`, `network` and `not_connected`.
    """
    return isinstance(error, MCPError) and error.reason in ("network", "spawn", "not_connected")
