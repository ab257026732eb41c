"""Text becomes a message, or the answer to what is none; and a message becomes text again.

What every transport that carries one JSON-RPC message a unit (a line, a frame) has in common: junk gets
-32700, a batch and what is no JSON-RPC 2.0 get -32600, with the id where there is one.
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

__all__ = ["message_of", "parse_message", "read_message", "refusal", "to_json"]


def read_message(data: bytes | str) -> SessionMessage:
    """The message.

    Raises:
        ValueError: it is none.
    """
    return SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False))


def message_of(value: object) -> SessionMessage:
    """The message that a JSON value is, also with half of a surrogate pair in it.

    Raises:
        ValueError: it is none.
    """
    return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))


def parse_message(data: bytes | str, *, unit: str) -> SessionMessage | JSONRPCError:
    """The message, or what to answer to data that is none. `unit` is what the wire calls one: a line."""
    try:
        return read_message(data)
    except ValueError:
        return _why_not(data, unit)


def refusal(
    code: int, message: str, identifier: str | int | None = None, data: dict[str, Any] | None = None
) -> JSONRPCError:
    """An error that answers the request with this id, or none in particular."""
    error = ErrorData(code=code, message=message, **({} if data is None else {"data": data}))
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=error)


def to_json(message: JSONRPCMessage) -> str:
    """On one line."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        # Text of a page, or an id, with half of a surrogate pair: UTF-8 has no place for it, JSON's \u does.
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True))


def _why_not(data: bytes | str, unit: str) -> JSONRPCError:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):  # Also bytes that are not UTF-8.
        return refusal(PARSE_ERROR, f"Parse error: the {unit} is not JSON")
    if isinstance(value, list):
        return refusal(INVALID_REQUEST, "Invalid request: batches are not supported")
    identifier = cast("dict[str, object]", value).get("id") if isinstance(value, dict) else None
    known = identifier if isinstance(identifier, (str, int)) and not isinstance(identifier, bool) else None
    return refusal(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", known)
