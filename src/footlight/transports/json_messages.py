"""Parse JSON-RPC messages, create errors for invalid ones, and encode messages as lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from footlight.protocol.messages import STRING, Message, has_more_values, is_id

__all__ = [
    "INVALID_REQUEST",
    "PARSE_ERROR",
    "RefusedMessage",
    "find_excess",
    "find_id",
    "parse_message",
    "refusal",
    "to_line",
]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
MAX_VALUES = 50_000
"""The maximum number of values in a message. Processing more would delay other callers too long."""
MAX_DEPTH = 100
"""The maximum nesting depth of the values in a message."""

_BRACKET = re.compile(r"[\[\]{}]")
_ID = r'"id"\s*+:\s*+(-?[0-9]{1,16}+|"[^"\\]{0,200}+")'
_OTHER = r'"(?:jsonrpc|method)"\s*+:\s*+"[^"\\]*+"'
_ID_AT_START = re.compile(r"\s*+\{\s*+(?:" + _OTHER + r"\s*+,\s*+)*" + _ID + r"\s*+[,}]")
_ID_AT_END = re.compile(_ID + r"\s*+(?:,\s*+" + _OTHER + r"\s*+)*\}\s*+\Z")
_END_LENGTH = 1_000


@dataclass(frozen=True, slots=True)
class RefusedMessage:
    """The error response to data that is not a valid message."""

    answer: Message


def parse_message(data: bytes | str, *, unit: str) -> Message | RefusedMessage:
    """Return the message, or the response to invalid data. Errors call the data `unit`, such as "line"."""
    if excess := find_excess(data):
        return refusal(INVALID_REQUEST, f"Invalid request: {excess}", find_id(data))
    try:
        value: object = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # Raised also for bytes that are not UTF-8.
        return refusal(PARSE_ERROR, f"Parse error: the {unit} is not JSON")
    if isinstance(value, list):
        return refusal(INVALID_REQUEST, "Invalid request: batches are not supported")
    message = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if _is_message(message):
        return message
    id = message.get("id")
    return refusal(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", id if is_id(id) else None)


def find_excess(data: bytes | str) -> str | None:
    """Return a message about the limit that the data exceeds, or None. The data is not parsed as JSON."""
    if has_more_values(data, MAX_VALUES):
        return f"the message has more than {MAX_VALUES:,} values"
    text = _as_characters(data)
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return None
    depth = 0
    for bracket in _BRACKET.finditer(STRING.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth < 0:  # This is not JSON, and the parser stops here at the latest.
            return None
        if depth > MAX_DEPTH:
            return f"the message is nested more than {MAX_DEPTH} levels deep"
    return None


def find_id(data: bytes | str) -> str | int | None:
    """Return the id at the beginning or the end of a message, or None. The data is not parsed as JSON."""
    text = _as_characters(data)
    found = _ID_AT_START.match(text) or _ID_AT_END.search(text[-_END_LENGTH:])
    if found is None:
        return None
    try:
        return json.loads(found[1] if isinstance(data, str) else found[1].encode("latin-1"))
    except ValueError:
        return None


def _as_characters(data: bytes | str) -> str:
    """Return a string with the same JSON syntax as `data`. Each byte becomes one character."""
    return data if isinstance(data, str) else data.decode("latin-1")


def refusal(code: int, message: str, id: str | int | None = None) -> RefusedMessage:
    """Return an error response for the request with this id, or for an unknown request."""
    return RefusedMessage({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})


def to_line(message: Message) -> bytes:
    """Encode the message as a line of UTF-8.

    Raises:
        TypeError: the message has a value that JSON does not support.
        ValueError: the message has a number that JSON does not support, such as NaN.
    """
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # UTF-8 cannot encode a lone surrogate, but JSON can escape it.
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _is_message(message: dict[str, Any]) -> bool:
    if message.get("jsonrpc") != "2.0":
        return False
    if isinstance(message.get("method"), str):
        return message.get("id") is None or is_id(message["id"])
    return "result" in message or isinstance(message.get("error"), dict)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
