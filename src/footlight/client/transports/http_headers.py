"""Create the headers of HTTP requests from those of the protocol and those of the caller. No I/O is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from footlight.protocol.param_headers import header_value
from footlight.protocol.untrusted_json import an_object
from footlight.protocol.versions import DEFAULT_VERSION, is_stateless

if TYPE_CHECKING:
    from footlight.protocol.messages import Message

__all__ = [
    "SESSION_HEADER",
    "Headers",
    "delete_headers",
    "get_headers",
    "is_header_value",
    "is_visible_ascii",
    "names_version",
    "post_headers",
]

SESSION_HEADER = "Mcp-Session-Id"

_VERSION_HEADER = "MCP-Protocol-Version"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that a stateless request repeats in `Mcp-Name`, by method."""
_RESERVED = frozenset(
    (
        *("accept", "content-type", "last-event-id", "mcp-method", "mcp-name"),
        *("mcp-protocol-version", "mcp-session-id"),
        *("accept-encoding", "connection", "content-length", "transfer-encoding"),
    )
)
"""Headers that the caller can neither replace nor add."""


Headers = list[tuple[bytes, bytes]]


def post_headers(
    message: Message,
    *,
    version: str,
    session_id: str | None,
    custom: Mapping[str, str],
    parameters: Mapping[str, str],
) -> Headers:
    """Return the headers of a message. `version` is the agreed revision; `parameters` are `Mcp-Param-*`."""
    protocol = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        _VERSION_HEADER: _message_version(message) or version,
    }
    if names_version(message) or is_stateless(version):
        protocol |= {**_make_routing_headers(message), **parameters}
    if session_id is not None:
        protocol[SESSION_HEADER] = session_id
    return _encode(protocol, custom)


def get_headers(
    *, version: str, session_id: str | None, custom: Mapping[str, str], last_event_id: str | None
) -> Headers:
    """Return the headers of a GET request for a stream."""
    protocol = {"Accept": "text/event-stream", _VERSION_HEADER: version}
    if session_id is not None:
        protocol[SESSION_HEADER] = session_id
    if last_event_id is not None:
        protocol["Last-Event-ID"] = last_event_id
    return _encode(protocol, custom)


def delete_headers(*, version: str, session_id: str, custom: Mapping[str, str]) -> Headers:
    """Return the headers of a DELETE request, which ends a session."""
    protocol = {"Accept": "application/json, text/event-stream", _VERSION_HEADER: version}
    return _encode({**protocol, SESSION_HEADER: session_id}, custom)


def names_version(message: Message) -> bool:
    """Return whether the message names its revision, as in the stateless protocol."""
    return _VERSION_KEY in an_object(an_object(message.get("params")).get("_meta"))


def is_header_value(text: str) -> bool:
    """Return whether the text has no control characters and no surrounding spaces."""
    return text.isprintable() and text == text.strip()


def is_visible_ascii(text: str) -> bool:
    return all("!" <= letter <= "~" for letter in text)


def _message_version(message: Message) -> str | None:
    """Return the revision that a stateless message or an `initialize` request names, or None."""
    params = an_object(message.get("params"))
    if names_version(message):
        protocol = params["_meta"][_VERSION_KEY]
    elif message.get("method") == "initialize":
        protocol = params.get("protocolVersion", DEFAULT_VERSION)
    else:
        return None
    return (
        protocol if isinstance(protocol, str) and protocol and is_visible_ascii(protocol) else DEFAULT_VERSION
    )


def _make_routing_headers(message: Message) -> dict[str, str]:
    method = message.get("method")
    if not isinstance(method, str):
        return {}
    name = an_object(message.get("params")).get(_NAMES.get(method, ""))
    named = {"Mcp-Name": header_value(name)} if isinstance(name, str) else {}
    return {"Mcp-Method": header_value(method), **named}


def _encode(protocol: Mapping[str, str], custom: Mapping[str, str]) -> Headers:
    reserved = _RESERVED | {name.lower() for name in protocol}
    added = {name: value for name, value in custom.items() if name.lower() not in reserved}
    return [(name.encode(), value.encode()) for name, value in {**added, **protocol}.items()]
