"""Every way in which a call to a server can fail: one tree, one table (documents 004 §8 and 001).

The class says what the caller does next; `reason` says what happened, and is what the questions
(`is_timeout` …) look at. `rpc_code` is the number of document 001, or of the server's own error: never to be
compared on its own, because document 001 and the protocol's SDKs use the same numbers the other way round.
No error carries a session id, a token, or a stack trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

if TYPE_CHECKING:
    from footlight.client.results import ToolResult

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

- `timeout`: our own deadline passed.
- `session_expired`: the HTTP session is gone; the next call begins another (R001-18).
- `network`: refused, reset, no such host, TLS; the process or the connection ended.
- `spawn`: the command could not be started.
- `handshake`: what answers is no MCP server, or none of a version that both sides speak.
- `protocol`: the server sent what is no message, or not the answer.
- `http`: a status that is an error, without a JSON-RPC error in the body; `status` has it.
- `peer`: the server's JSON-RPC error.
- `tool`: the tool ran and failed (`isError`).
- `unknown_tool`: the server has no such tool.
- `invalid`: refused here, before anything was sent.
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
"""The numbers of document 001 for what the server gave no number (R001-29)."""

SECRET_NAME = re.compile(r"passw|secret|token|authori[sz]ation|api.?key|cookie|credential", re.IGNORECASE)
"""What has such a word in its name is not shown."""


class MCPError(Exception):
    """The root. `data` is what the server added to its error, or the body of an HTTP error."""

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
        super().__init__(message)
        self.message = message
        self.reason: Reason = reason
        self.rpc_code = LOCAL_CODES.get(reason) if rpc_code is None else rpc_code
        self.data = data
        self.status = status

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; what is None is left out. Arguments whose names promise a secret are masked."""
        fields = {
            "name": self.name,
            "code": self.code,
            "message": self.message,
            "reason": self.reason,
            "rpcCode": self.rpc_code,
            "status": self.status,
            "data": self.data,
            **self._own_fields(),
        }
        return {name: value for name, value in fields.items() if value is not None}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), default=str)

    def _own_fields(self) -> dict[str, Any]:
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled with everything, to another process too."""
        return _restored, (type(self), self.message, self.__dict__.copy())


def _restored(kind: type[MCPError], message: str, state: dict[str, Any]) -> MCPError:
    error = cast("Any", kind).__new__(kind, message)
    error.args = (message,)  # What is an OSError too takes them in __init__ only.
    error.__dict__.update(state)
    return error


class _Unreached(MCPError, ConnectionError):
    """`server_command` is what was started, where the server is a process."""

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


class MCPConnectionError(_Unreached):
    """The connection could not be made, or was lost, or its session expired."""

    code = "CONNECTION_ERROR"
    name = "ConnectionError"


class ServerNotAvailableError(_Unreached):
    """There is no server: it does not run, or cannot be reached."""

    code = "SERVER_NOT_AVAILABLE"
    name = "ServerNotAvailableError"


class MCPTimeoutError(MCPError, TimeoutError):
    """Our own deadline passed; `timeout_ms` is what there was. The server was told to stop."""

    code = "TIMEOUT_ERROR"
    name = "TimeoutError"

    def __init__(self, message: str, /, *, timeout_ms: float, tool_name: str | None = None) -> None:
        super().__init__(message, reason="timeout")
        self.timeout_ms = timeout_ms
        self.tool_name = tool_name

    def _own_fields(self) -> dict[str, Any]:
        return {"toolName": self.tool_name, "timeout": self.timeout_ms}


class ToolInvocationError(MCPError):
    """A tool was not run, or ran and failed. `result` is the whole answer where there was one."""

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
        masked = None if self.tool_args is None else _masked(self.tool_args)
        return {"toolName": self.tool_name, "toolArgs": masked}


def _masked(value: object) -> object:
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {key: "***" if SECRET_NAME.search(str(key)) else _masked(each) for key, each in entries}
    if isinstance(value, (list, tuple)):
        return [_masked(each) for each in cast("list[object]", value)]
    return value


def is_tool_not_found(error: BaseException) -> bool:
    """The server has no such tool (R001-30)."""
    return isinstance(error, MCPError) and (
        error.reason == "unknown_tool" or (error.reason == "peer" and error.rpc_code == -32601)
    )


def is_timeout(error: BaseException) -> bool:
    """Our own deadline passed (R001-31)."""
    return isinstance(error, MCPError) and error.reason == "timeout"


def is_session_expired(error: BaseException) -> bool:
    """The server ended the HTTP session; never true where `is_timeout` is (R001-32, R001-33)."""
    return isinstance(error, MCPError) and error.reason == "session_expired"


def is_network_error(error: BaseException) -> bool:
    """The server could not be reached, or the way to it broke (R001-34)."""
    return isinstance(error, MCPError) and error.reason == "network"
