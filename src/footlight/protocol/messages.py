"""Create, encode and parse JSON-RPC 2.0 messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, cast

from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, integer, text
from footlight.safe_text import load_json

__all__ = [
    "STRING",
    "Message",
    "RequestId",
    "UnreadableResult",
    "answer_to",
    "encode",
    "has_more_values",
    "is_answer_to",
    "is_id",
    "kind_of",
    "notification",
    "own_id",
    "parse",
    "peer_error",
    "request",
]

MAX_VALUES = 1_000_000
"""The maximum number of values in a message of a server. Parsing them takes 0.15 s and 150 MB.

Nothing else runs meanwhile, not even in other threads.
"""
MAX_ID_DIGITS = 18
ENDS = 200
"""The number of characters at each end of an unreadable message in which its id is searched."""
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string in JSON, also one that the text ends in."""
_UNESCAPED_STRING = re.compile(r'"[^"]*+(?:"|\Z)')
"""A string from which all escapes of quotes and backslashes were removed. It is found much faster."""
_VERSION = r'"jsonrpc"\s*+:\s*+"2\.0"'
_ID = r'"id"\s*+:\s*+(\d{1,18}+)'
_BEGINNING = re.compile(rf'\s*+\{{\s*+(?:{_VERSION}\s*+,\s*+{_ID}|{_ID}\s*+,\s*+{_VERSION})\s*+,\s*+"result"')
_END = re.compile(rf",\s*+(?:{_VERSION}\s*+,\s*+{_ID}|{_ID}\s*+,\s*+{_VERSION})\s*+\}}\s*+\Z")

Message = Mapping[str, Any]
RequestId = int | str


@dataclass(frozen=True, slots=True)
class UnreadableResult:
    """The replacement for a result that cannot be parsed, in a message whose id is known."""

    why: str


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
    """Encode the message as one line of ASCII JSON, in which lone surrogates are escaped.

    Raises:
        MCPError: the message cannot be encoded as JSON (`invalid`).
    """
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise MCPError(f"This cannot be written as JSON: {error}", reason="invalid") from None


def parse(data: bytes | str, *, unit: str) -> Message:
    """Parse the message in a line, frame, event or body. Errors call the data `unit`.

    Raises:
        MCPError: the data is not JSON (-32700), or not a JSON-RPC 2.0 message or too large a one (-32600).
    """
    if has_more_values(data, MAX_VALUES):
        too_many = f"has more than {MAX_VALUES:,} values"
        if (unreadable := _read_ends(data, too_many)) is not None:
            return unreadable
        raise MCPError(f"The server sent a {unit} that {too_many}", reason="protocol", rpc_code=-32600)
    try:
        value = load_json(data)
    except (ValueError, RecursionError) as error:  # Raised also for bytes that are not UTF-8.
        why = _describe_limit(error)
        if why is not None and (unreadable := _read_ends(data, why)) is not None:
            return unreadable
        raise MCPError(
            f"The server sent a {unit} that is not JSON", reason="protocol", rpc_code=-32700
        ) from None
    if kind_of(value) is None:
        if _names_a_request(value):
            why = "is missing: the answer has neither `result` nor `error`"
            return {"jsonrpc": "2.0", "id": cast("Message", value)["id"], "result": UnreadableResult(why)}
        raise MCPError(
            f"The server sent a {unit} that is not a JSON-RPC 2.0 message", reason="protocol", rpc_code=-32600
        )
    return cast("Message", value)


def has_more_values(data: bytes | str, most: int) -> bool:
    """Return whether a JSON text has more than `most` values, without parsing it."""
    text = data if isinstance(data, str) else data.decode("latin-1")  # A byte becomes a character.
    if sum(map(text.count, "[{,")) <= most:
        return False
    without_escapes = text.replace("\\\\", "").replace('\\"', "")
    return sum(map(_UNESCAPED_STRING.sub("", without_escapes).count, "[{,")) > most


def _describe_limit(error: Exception) -> str | None:
    """Return which limit of the parser a JSON text exceeds, or None if it is not JSON."""
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    is_malformed = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError))
    return None if is_malformed else "has a number with too many digits"


def _read_ends(data: bytes | str, why: str) -> Message | None:
    """Return a response whose result is not read because of `why`, or None if its id is at neither end."""
    beginning, end = (
        part if isinstance(part, str) else part.decode("latin-1") for part in (data[:ENDS], data[-ENDS:])
    )
    found = _BEGINNING.match(beginning) or _END.search(end)
    if found is None:
        return None
    return {"jsonrpc": "2.0", "id": int(found[1] or found[2]), "result": UnreadableResult(why)}


def _names_a_request(value: object) -> bool:
    message = an_object(value)
    return message.get("jsonrpc") == "2.0" and is_id(message.get("id")) and "method" not in message


def kind_of(value: object) -> Kind | None:
    """Return the kind of a message, or None if the JSON value is not a message."""
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
    # A malformed error is an answer too, because it has the request's id.
    return None if error is None else "error"


def is_id(value: object) -> TypeGuard[RequestId]:
    """Return whether the value is a JSON-RPC id. A boolean is not, although it is an `int` in Python."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def is_answer_to(identifier: RequestId, message: Message) -> bool:
    """Return whether a response or an error answers the request with this id."""
    answer_id = message.get("id")
    return is_id(answer_id) and (answer_id == identifier or own_id(answer_id) == identifier)


def own_id(identifier: object) -> int | None:
    """Return the client's id as a number, or None. Some servers send ids back as strings."""
    if not isinstance(identifier, str):
        return identifier if isinstance(identifier, int) and not isinstance(identifier, bool) else None
    if len(identifier) > MAX_ID_DIGITS or not (identifier.isascii() and identifier.isdigit()):
        return None
    return int(identifier)


def peer_error(error: object, *, status: int | None = None) -> MCPError:
    """Convert a server's JSON-RPC error to an exception. If it is malformed, `data` is the whole error."""
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
