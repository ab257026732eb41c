"""Parse and encode JSON-RPC messages, for transports with one message in each line, frame or body.

Text that is not JSON is answered with the error -32700. A batch, or JSON that is not JSON-RPC 2.0, is
answered with -32600, and with the id if it has one.
"""

from __future__ import annotations

import json
from typing import Any, cast

from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)

from footlight.transports.json_messages import find_excess, find_id

__all__ = ["message_of", "parse_message", "read_message", "refusal", "to_json"]


def read_message(data: bytes | str) -> SessionMessage:
    """Parse a message.

    Raises:
        ValueError: `data` is not a JSON-RPC message.
    """
    return SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False))


def message_of(value: object) -> SessionMessage:
    """Convert a JSON value to a message. Its strings may contain lone surrogates.

    Raises:
        ValueError: `value` is not a JSON-RPC message.
    """
    return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))


def parse_message(data: bytes | str, *, unit: str) -> SessionMessage | JSONRPCError:
    """Return the message, or an error response. Errors call the data `unit`, such as "line"."""
    if excess := find_excess(data):
        return refusal(INVALID_REQUEST, f"Invalid request: {excess}", find_id(data))
    try:
        return read_message(data)
    except ValueError:
        return _describe_fault(data, unit)


def refusal(
    code: int, message: str, identifier: str | int | None = None, data: dict[str, Any] | None = None
) -> JSONRPCError:
    """Return an error response for the request with this id, or for an unknown request."""
    error = ErrorData(code=code, message=message, **({} if data is None else {"data": data}))
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=error)


def to_json(message: JSONRPCMessage) -> str:
    """Return the message as JSON on one line."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        # A text of a page contains a lone surrogate. UTF-8 cannot encode it, but JSON can escape it.
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True))


def _describe_fault(data: bytes | str, unit: str) -> JSONRPCError:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):  # Raised also for bytes that are not UTF-8.
        return refusal(PARSE_ERROR, f"Parse error: the {unit} is not JSON")
    if isinstance(value, list):
        return refusal(INVALID_REQUEST, "Invalid request: batches are not supported")
    identifier = cast("dict[str, object]", value).get("id") if isinstance(value, dict) else None
    known = identifier if isinstance(identifier, (str, int)) and not isinstance(identifier, bool) else None
    return refusal(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", known)
