"""The headers of a request: the protocol's own, and the caller's beside them. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from footlight.client.errors import MCPError
from footlight.client.loose import an_object
from footlight.client.mirrored import header_value
from footlight.client.versions import DEFAULT_VERSION, is_stateless

if TYPE_CHECKING:
    from footlight.client.messages import Message

__all__ = [
    "SESSION_HEADER",
    "Headers",
    "check_headers",
    "is_visible_ascii",
    "names_version",
    "of_delete",
    "of_get",
    "of_post",
]

SESSION_HEADER = "Mcp-Session-Id"

_VERSION_HEADER = "MCP-Protocol-Version"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""What a stateless request repeats in `Mcp-Name`."""
_OURS = frozenset(
    (
        *("accept", "content-type", "last-event-id", "mcp-method", "mcp-name"),
        *("mcp-protocol-version", "mcp-session-id"),
        *("connection", "content-length", "transfer-encoding"),
    )
)
"""What a caller can neither replace nor add (R001-8)."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")

Headers = list[tuple[bytes, bytes]]


def check_headers(headers: object) -> None:
    """
    Raises:
        MCPError: they map no names to values that HTTP can carry (`invalid`).
    """
    if not isinstance(headers, Mapping):
        raise MCPError("headers: must map names to values", reason="invalid")
    for name, value in cast("Mapping[object, object]", headers).items():
        if not _fits(name, _NAME) or not _fits(value, _VALUE):
            # The value is not shown: it may be a token.
            raise MCPError(f"No header can be what is given for {name!r:.60}", reason="invalid")


def _fits(given: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(given, str) and pattern.fullmatch(given) is not None


def of_post(
    message: Message,
    *,
    version: str,
    session_id: str | None,
    custom: Mapping[str, str],
    parameters: Mapping[str, str],
) -> Headers:
    """Of a message (R001-3, R001-4). `version` is what was agreed on, `parameters` are `Mcp-Param-*`."""
    own = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        _VERSION_HEADER: _version_of(message) or version,
    }
    if names_version(message) or is_stateless(version):
        own |= {**_routing(message), **parameters}
    if session_id is not None:
        own[SESSION_HEADER] = session_id
    return _encoded(own, custom)


def of_get(
    *, version: str, session_id: str | None, custom: Mapping[str, str], last_event_id: str | None
) -> Headers:
    """Of the request for a stream (R001-23)."""
    own = {"Accept": "text/event-stream", _VERSION_HEADER: version}
    if session_id is not None:
        own[SESSION_HEADER] = session_id
    if last_event_id is not None:
        own["Last-Event-ID"] = last_event_id
    return _encoded(own, custom)


def of_delete(*, version: str, session_id: str, custom: Mapping[str, str]) -> Headers:
    """Of the request to end a session (R001-20). It has no body, so it has no content type."""
    own = {"Accept": "application/json, text/event-stream", _VERSION_HEADER: version}
    return _encoded({**own, SESSION_HEADER: session_id}, custom)


def names_version(message: Message) -> bool:
    """Whether a message is one of the stateless protocol, which say their revision themselves."""
    return _VERSION_KEY in an_object(an_object(message.get("params")).get("_meta"))


def is_visible_ascii(text: str) -> bool:
    return all("!" <= letter <= "~" for letter in text)


def _version_of(message: Message) -> str | None:
    """The message's own: a stateless one's, or what a handshake proposes."""
    params = an_object(message.get("params"))
    if names_version(message):
        own = params["_meta"][_VERSION_KEY]
    elif message.get("method") == "initialize":
        own = params.get("protocolVersion", DEFAULT_VERSION)
    else:
        return None
    return own if isinstance(own, str) and own and is_visible_ascii(own) else DEFAULT_VERSION


def _routing(message: Message) -> dict[str, str]:
    method = message.get("method")
    if not isinstance(method, str):
        return {}
    name = an_object(message.get("params")).get(_NAMES.get(method, ""))
    named = {"Mcp-Name": header_value(name)} if isinstance(name, str) else {}
    return {"Mcp-Method": header_value(method), **named}


def _encoded(own: Mapping[str, str], custom: Mapping[str, str]) -> Headers:
    taken = _OURS | {name.lower() for name in own}
    added = {name: value for name, value in custom.items() if name.lower() not in taken}
    return [(name.encode(), value.encode()) for name, value in {**added, **own}.items()]
