"""Reading one request of the log in full."""

import base64
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.exchange import Exchange, Part, get_exchange
from footlight.browser.overview import EntryInfo, entry_info
from footlight.errors import InvalidParameter
from footlight.server.redaction import names_secret
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.browser.excerpt import Offset, cut, excerpt

__all__ = ["TOOLS"]

LONGEST_HEADER = 2_000
LONGEST_BINARY = 7_500
"""Bytes of a piece, which are 10,000 characters in base64."""

_SECRET_HEADER = re.compile(
    r"(proxy-)?authorization|(set-)?cookie2?|.*-auth|x-(auth|session|csrf|xsrf|amz-security)(-.*)?"
)


class RequestDetails(TypedDict):
    """What the part has: a summary, headers, or a piece of a body, `length` of which is the whole's.

    A body that is no text is in base64, its `length` and offsets in bytes.
    """

    summary: NotRequired[EntryInfo]
    headers: NotRequired[dict[str, str]]
    body: NotRequired[str]
    encoding: NotRequired[Literal["text", "base64"]]
    contentType: NotRequired[str]
    length: NotRequired[int]
    nextOffset: NotRequired[int]


@tool(scope="session", effect="read", group="network")
async def get_request(
    call: ToolCall,
    request_id: Annotated[str, Field(description="From get_request_log")],
    part: Part = "summary",
    offset: Offset = 0,
) -> RequestDetails:
    """Get a request's headers or body. Secret headers are masked."""
    if offset and not part.endswith("_body"):
        raise InvalidParameter("offset: only a body is read in pieces", parameter="offset")
    exchange = get_exchange(call.session.log, request_id)
    match part:
        case "summary":
            return {"summary": entry_info(exchange.entry)}
        case "request_headers":
            return {"headers": _shown(await exchange.request_headers(), call.mask)}
        case "response_headers":
            return {"headers": _shown(await exchange.response_headers(), call.mask)}
        case "request_body":
            return await _body(exchange, part, await exchange.request_body(), offset, call.mask)
        case "response_body":
            return await _body(exchange, part, await exchange.response_body(), offset, call.mask)


def _shown(headers: Mapping[str, str], mask: Callable[[str], str]) -> dict[str, str]:
    return {name: _masked(name, value, mask) for name, value in headers.items()}


def _masked(name: str, value: str, mask: Callable[[str], str]) -> str:
    """What lets its reader in is nobody's who only looks."""
    if names_secret(name) or _SECRET_HEADER.fullmatch(name.lower()):
        return f"[masked, {len(value)} characters]"
    return cut(mask(value), LONGEST_HEADER)


async def _body(
    exchange: Exchange, part: Part, body: bytes, offset: int, mask: Callable[[str], str]
) -> RequestDetails:
    content_type = await exchange.content_type(part)
    text = _text(body, content_type)
    details = _binary(_masked_bytes(body, mask), offset) if text is None else _piece(mask(text), offset)
    return {**details, "contentType": content_type} if content_type else details


def _piece(text: str, offset: int) -> RequestDetails:
    piece = excerpt(text, offset)
    details: RequestDetails = {"body": piece.text, "encoding": "text", "length": piece.length}
    if piece.next_offset is not None:
        details["nextOffset"] = piece.next_offset
    return details


def _masked_bytes(body: bytes, mask: Callable[[str], str]) -> bytes:
    """Secrets that stand in it as UTF-8."""
    return mask(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _binary(body: bytes, offset: int) -> RequestDetails:
    if offset > len(body):
        raise InvalidParameter(
            f"offset: {offset} is beyond the end; there are {len(body)} bytes", parameter="offset"
        )
    end = offset + LONGEST_BINARY
    details: RequestDetails = {
        "body": base64.b64encode(body[offset:end]).decode(),
        "encoding": "base64",
        "length": len(body),
    }
    if end < len(body):
        details["nextOffset"] = end
    return details


def _text(body: bytes, content_type: str) -> str | None:
    """None where it is none. Chromium gives what it knows for text in UTF-8, whatever it was sent in."""
    charset = re.search(r"charset=\"?([\w.:-]+)", content_type, re.IGNORECASE)
    for encoding in ("utf-8", *([charset[1]] if charset else [])):
        with suppress(UnicodeError, LookupError):
            text = body.decode(encoding)
            return None if "\0" in text else text
    return None


TOOLS = (get_request,)
