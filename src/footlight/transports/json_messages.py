"""Read JSON-RPC messages from text, answer text that is not one, and write messages as lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from footlight.protocol.messages import Message, is_id

__all__ = ["INVALID_REQUEST", "PARSE_ERROR", "Refused", "parse_message", "refusal", "to_line"]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer to data that is not a message."""

    answer: Message


def parse_message(data: bytes | str, *, unit: str) -> Message | Refused:
    """Return the message, or the answer to data that is not one. `unit` names the data in errors: a line."""
    try:
        value: object = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # Also bytes that are not UTF-8.
        return refusal(PARSE_ERROR, f"Parse error: the {unit} is not JSON")
    if isinstance(value, list):
        return refusal(INVALID_REQUEST, "Invalid request: batches are not supported")
    message = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if _is_message(message):
        return message
    id = message.get("id")
    return refusal(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", id if is_id(id) else None)


def refusal(code: int, message: str, id: str | int | None = None) -> Refused:
    """Return an error as the response to the request with this id, or to an unknown request."""
    return Refused({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})


def to_line(message: Message) -> bytes:
    """Return the message as a line of UTF-8.

    Raises:
        TypeError: it has a value that JSON does not have.
        ValueError: it has a number that JSON does not have, such as NaN.
    """
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # Half of a surrogate pair, which UTF-8 cannot encode.
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _is_message(message: dict[str, Any]) -> bool:
    if message.get("jsonrpc") != "2.0":
        return False
    if isinstance(message.get("method"), str):
        return message.get("id") is None or is_id(message["id"])
    return "result" in message or isinstance(message.get("error"), dict)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
