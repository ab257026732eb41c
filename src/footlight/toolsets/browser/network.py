"""Block, mock, throttle and log a session's requests, and read one request in full."""

import base64
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from footlight.browser.network.exchange import Exchange, Part, get_exchange
from footlight.browser.network.mocks import MockResponse
from footlight.browser.network.request_log import RESOURCE_TYPES, LogFilter
from footlight.browser.network.throttling import Throttling
from footlight.errors import InvalidParameterError
from footlight.safe_text import cut_text
from footlight.server.answers.overview import EntryInfo, LogCounts, entry_info, log_counts
from footlight.server.prompt_redaction import names_secret
from footlight.server.tools import Count, Number, ToolCall, Whole, tool
from footlight.toolsets.browser.parameters import Offset, excerpt

__all__ = []

Action = Literal["add", "remove", "list"]


class MockRule(TypedDict):
    url: str
    status: int


class NetworkRules(TypedDict):
    """All rules of the session after the call."""

    blocked: list[str]
    mocks: list[MockRule]


class OfflineStatus(TypedDict):
    offline: bool


class ThrottlingStatus(TypedDict):
    downloadSpeed: float
    uploadSpeed: float
    latency: float


class RequestLogPage(LogCounts):
    """The counts include all matching requests; the entries are one page of them."""

    entries: list[EntryInfo]
    nextOffset: NotRequired[int]
    note: NotRequired[str]


HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]

HeaderValue = Annotated[str, Field(pattern=r"^[\t\x20-\x7e\x80-\xff]*$")]


class MockedResponse(BaseModel):
    """The response of a mocked URL; a body that is not a string is sent as JSON."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    status: Annotated[Whole, Field(ge=200, le=599)] = 200
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    body: Any = None
    content_type: HeaderValue | None = None


Rule = Annotated[Action, Field(description="remove undoes add; list only reports")]


@tool(scope="session", effect="configure", idempotent=True, untrusted=False)
async def block_resource(call: ToolCall, resource_type: str, action: Rule = "add") -> NetworkRules:
    """Block resource type. Such as image, font, stylesheet, script, media or fetch."""
    if action != "list" and resource_type not in RESOURCE_TYPES:
        known = ", ".join(RESOURCE_TYPES)
        raise InvalidParameterError(
            f"resourceType: {resource_type!r} is not one of {known}", parameter="resourceType"
        )
    if action == "add":
        await call.session.rules.block(resource_type)
    elif action == "remove":
        await call.session.rules.unblock(resource_type)
    return _list_rules(call)


@tool(scope="session", effect="configure", idempotent=True, untrusted=False)
async def mock_response(
    call: ToolCall,
    url: Annotated[str, Field(min_length=1, description="Full URL, or a pattern with *")],
    response: Annotated[
        MockedResponse,
        Field(description="{status?, headers?, body?, contentType?}; a non-string body is sent as JSON"),
    ],
    action: Rule = "add",
) -> NetworkRules:
    """Mock API response. For matching requests."""
    if action == "add":
        if "*" not in url and "://" not in url:
            raise InvalidParameterError(
                f'url: "{url}" is neither a full URL nor a pattern with *, so it matches no request; '
                f'"*{url}" matches all URLs that end like that',
                parameter="url",
            )
        mock = MockResponse.of(
            status=response.status,
            headers=response.headers,
            body=response.body,
            content_type=response.content_type,
        )
        await call.session.rules.mock(url, mock)
    elif action == "remove":
        await call.session.rules.unmock(url)
    return _list_rules(call)


@tool(scope="session", effect="configure", idempotent=True, untrusted=False)
async def set_offline(call: ToolCall, offline: bool) -> OfflineStatus:
    """Set offline mode"""
    await call.session.emulator.set_offline(offline)
    return {"offline": offline}


Speed = Annotated[Number, Field(ge=-1)]


@tool(scope="session", effect="configure", idempotent=True, untrusted=False)
async def set_throttling(
    call: ToolCall,
    download_speed: Annotated[Speed, Field(description="Bytes per second, -1: unlimited")],
    upload_speed: Speed,
    latency: Annotated[Number, Field(ge=0, le=600_000, description="Milliseconds")],
) -> ThrottlingStatus:
    """Set network throttling. Chromium only."""
    for name, speed in (("downloadSpeed", download_speed), ("uploadSpeed", upload_speed)):
        if -1 < speed <= 0:
            raise InvalidParameterError(
                f"{name}: must be above 0, or -1 for no limit; set_offline stops all requests", parameter=name
            )
    await call.session.emulator.throttle(Throttling(download_speed, upload_speed, latency))
    return {"downloadSpeed": download_speed, "uploadSpeed": upload_speed, "latency": latency}


@tool(scope="session", effect="read")
async def get_request_log(
    call: ToolCall,
    filter: Annotated[str | None, Field(description="Part of the URL, or a pattern with *")] = None,
    resource_type: Annotated[str | None, Field(description="document, script, fetch, …")] = None,
    method: Annotated[str | None, Field(description="GET, POST, …")] = None,
    status: Annotated[Number | None, Field(description="0: no response")] = None,
    page_id: Annotated[str | None, Field(description="Only this page")] = None,
    offset: Annotated[Whole, Field(ge=0)] = 0,
    limit: Annotated[Count, Field(le=1000)] = 100,
) -> RequestLogPage:
    """Get network log. Oldest first."""
    call.session.page_table.check_id(page_id)
    matching = call.session.log.select(
        LogFilter(
            url=filter,
            resource_type=resource_type,
            method=method.upper() if method else method,
            status=None if status is None else int(status),
            page=page_id,
        )
    )
    log: RequestLogPage = {
        **log_counts(matching),
        "entries": [entry_info(entry) for entry in matching[offset : offset + limit]],
    }
    if offset + limit < len(matching):
        log["nextOffset"] = offset + limit
    if dropped := call.session.log.count_dropped(page_id):
        log["note"] = f"{dropped:,} more requests are not listed: a page sent more at once than are recorded."
    return log


def _list_rules(call: ToolCall) -> NetworkRules:
    rules = call.session.rules
    return {
        "blocked": list(rules.blocked),
        "mocks": [{"url": url, "status": mock.status} for url, mock in rules.mocks.items()],
    }


MAX_HEADER_CHARS = 2_000

MAX_BINARY_BYTES = 7_500
"""Bytes of a piece: 10,000 characters in base64."""

_SECRET_HEADER = re.compile(
    r"(proxy-)?authorization|(set-)?cookie2?|.*-auth|x-(auth|session|csrf|xsrf|amz-security)(-.*)?"
)


class RequestDetails(TypedDict):
    """A summary, headers, or a piece of a body with the `length` of the whole body.

    A binary body is in base64, with `length` and offsets in bytes.
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
        raise InvalidParameterError("offset: only valid for a body", parameter="offset")
    exchange = get_exchange(call.session.log, request_id)
    match part:
        case "summary":
            return {"summary": entry_info(exchange.entry)}
        case "request_headers":
            return {"headers": _mask_headers(await exchange.request_headers(), call.mask)}
        case "response_headers":
            return {"headers": _mask_headers(await exchange.response_headers(), call.mask)}
        case "request_body":
            return await _read_body(exchange, part, await exchange.request_body(), offset, call)
        case "response_body":
            return await _read_body(exchange, part, await exchange.response_body(), offset, call)


def _mask_headers(headers: Mapping[str, str], mask: Callable[[str], str]) -> dict[str, str]:
    return {name: _mask_header(name, value, mask) for name, value in headers.items()}


def _mask_header(name: str, value: str, mask: Callable[[str], str]) -> str:
    """Mask a header that carries credentials, and cut a long one."""
    if names_secret(name) or _SECRET_HEADER.fullmatch(name.lower()):
        return f"[masked, {len(value)} characters]"
    return cut_text(mask(value), MAX_HEADER_CHARS)


async def _read_body(
    exchange: Exchange, part: Part, body: bytes, offset: int, call: ToolCall
) -> RequestDetails:
    content_type = await exchange.content_type(part)
    text = _decode_text(body, content_type)
    details = (
        _describe_binary(await _mask_bytes(body, call), offset)
        if text is None
        else _describe_text(await call.mask_long(text), offset)
    )
    return {**details, "contentType": content_type} if content_type else details


def _describe_text(text: str, offset: int) -> RequestDetails:
    piece = excerpt(text, offset)
    details: RequestDetails = {"body": piece.text, "encoding": "text", "length": piece.length}
    if piece.next_offset is not None:
        details["nextOffset"] = piece.next_offset
    return details


async def _mask_bytes(body: bytes, call: ToolCall) -> bytes:
    """Mask the secrets that the body contains as UTF-8."""
    masked = await call.mask_long(body.decode("utf-8", "surrogateescape"))
    return masked.encode("utf-8", "surrogateescape")


def _describe_binary(body: bytes, offset: int) -> RequestDetails:
    if offset > len(body):
        raise InvalidParameterError(
            f"offset: {offset} is beyond the end; the body has {len(body)} bytes", parameter="offset"
        )
    end = offset + MAX_BINARY_BYTES
    details: RequestDetails = {
        "body": base64.b64encode(body[offset:end]).decode(),
        "encoding": "base64",
        "length": len(body),
    }
    if end < len(body):
        details["nextOffset"] = end
    return details


def _decode_text(body: bytes, content_type: str) -> str | None:
    """Return a body as text, or None if it is binary.

    Chromium returns text in UTF-8, whatever encoding it was sent in.
    """
    charset = re.search(r"charset=\"?([\w.:-]+)", content_type, re.IGNORECASE)
    for encoding in ("utf-8", *([charset[1]] if charset else [])):
        with suppress(UnicodeError, LookupError):
            text = body.decode(encoding)
            return None if "\0" in text else text
    return None
