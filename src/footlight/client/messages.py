"""JSON-RPC 2.0 messages as plain values: made, and told apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeGuard, cast

from footlight.client.errors import MCPError
from footlight.client.loose import an_object, integer, text

__all__ = [
    "Message",
    "RequestId",
    "answer_to",
    "encode",
    "is_id",
    "kind_of",
    "notification",
    "parse",
    "peer_error",
    "request",
]

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
    """The response to a request of the server's."""
    body = {"result": result} if error is None else {"error": error}
    return {"jsonrpc": "2.0", "id": identifier, **body}


def encode(message: Message) -> bytes:
    """On one line, in ASCII: half a surrogate pair has no place in UTF-8, in JSON's escapes it has.

    Raises:
        MCPError: it holds what JSON has no word for (`invalid`).
    """
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise MCPError(f"This cannot be said in JSON: {error}", reason="invalid") from None


def parse(data: bytes | str, *, unit: str) -> Message:
    """The message in this line, frame, event or body: `unit` is what the transport calls it.

    Raises:
        MCPError: it is not JSON (-32700), or no JSON-RPC 2.0 message (-32600).
    """
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):  # Also bytes that are not UTF-8.
        raise MCPError(
            f"The server sent a {unit} that is not JSON", reason="protocol", rpc_code=-32700
        ) from None
    if kind_of(value) is None:
        raise MCPError(
            f"The server sent a {unit} that is no JSON-RPC 2.0 message", reason="protocol", rpc_code=-32600
        )
    return cast("Message", value)


def kind_of(value: object) -> Kind | None:
    """What a JSON value is as a message; None if it is none."""
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
    # An odd error is still the answer to its request.
    return None if error is None else "error"


def is_id(value: object) -> TypeGuard[RequestId]:
    """Python takes True for 1, and 1.0 too; JSON does not."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def peer_error(error: object, *, status: int | None = None) -> MCPError:
    """A server's JSON-RPC error as ours (R001-14). Of an odd one all that it says is `data`."""
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
