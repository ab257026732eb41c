"""JSON-RPC 2.0 messages as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeGuard, cast

from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, integer, text

__all__ = [
    "Message",
    "RequestId",
    "answer_to",
    "encode",
    "is_answer_to",
    "is_id",
    "kind_of",
    "notification",
    "own_id",
    "parse",
    "peer_error",
    "request",
]

MAX_ID_DIGITS = 18

Message = Mapping[str, Any]
RequestId = int | str

Kind = Literal["request", "notification", "response", "error"]


def request(identifier: RequestId, method: str, params: Mapping[str, Any]) -> Message:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def notification(method: str, params: Mapping[str, Any]) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def answer_to(
    identifier: RequestId, *, result: Any = None, error: Mapping[str, Any] | None = None
) -> Message:
    """Return the response to a request of the server."""
    body = {"result": result} if error is None else {"error": error}
    return {"jsonrpc": "2.0", "id": identifier, **body}


def encode(message: Message) -> bytes:
    """Return the message as one line of ASCII JSON, which can also carry half a surrogate pair.

    Raises:
        MCPError: it cannot be written as JSON (`invalid`).
    """
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise MCPError(f"This cannot be written as JSON: {error}", reason="invalid") from None


def parse(data: bytes | str, *, unit: str) -> Message:
    """Return the message in a line, frame, event or body. `unit` says which of these in errors.

    Raises:
        MCPError: it is not JSON (-32700), or not a JSON-RPC 2.0 message (-32600).
    """
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):  # Also bytes that are not UTF-8.
        raise MCPError(
            f"The server sent a {unit} that is not JSON", reason="protocol", rpc_code=-32700
        ) from None
    if kind_of(value) is None:
        raise MCPError(
            f"The server sent a {unit} that is not a JSON-RPC 2.0 message", reason="protocol", rpc_code=-32600
        )
    return cast("Message", value)


def kind_of(value: object) -> Kind | None:
    """Return which kind of message a JSON value is, or None if it is not a message."""
    if not isinstance(value, dict):
        return None
    message = cast("dict[str, Any]", value)
    if message.get("jsonrpc") != "2.0":
        return None
    if isinstance(message.get("method"), str):
        return "request" if is_id(message.get("id")) else "notification"
    error = message.get("error")
    if text(an_object(error).get("message")) is not None:
        return "error"
    if not is_id(message.get("id")):
        return None
    if "result" in message:
        return "response"
    # A malformed error is still the answer to its request.
    return None if error is None else "error"


def is_id(value: object) -> TypeGuard[RequestId]:
    """Return whether the value is a JSON-RPC id. Python takes True and 1.0 for 1; JSON does not."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def is_answer_to(identifier: RequestId, message: Message) -> bool:
    """Return whether a response or an error is for the request with this id."""
    answer_id = message.get("id")
    return is_id(answer_id) and (answer_id == identifier or own_id(answer_id) == identifier)


def own_id(identifier: object) -> int | None:
    """Return the number of an id that the client gave. Some servers send it back as text."""
    if not isinstance(identifier, str):
        return identifier if isinstance(identifier, int) and not isinstance(identifier, bool) else None
    if len(identifier) > MAX_ID_DIGITS or not (identifier.isascii() and identifier.isdigit()):
        return None
    return int(identifier)


def peer_error(error: object, *, status: int | None = None) -> MCPError:
    """Return a server's JSON-RPC error as ours. If it is malformed, `data` has all of it."""
    fields = an_object(error)
    message = text(fields.get("message"))
    return MCPError(
        "The server gave an error without a message" if message is None else message,
        reason="peer",
        rpc_code=_code(fields.get("code")),
        data=error if message is None else fields.get("data"),
        status=status,
    )


def _code(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    code = integer(value)
    return -32603 if code is None else code
