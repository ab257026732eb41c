"""Steering and watching a session's network (003 §2.1, R003-38 to R003-42)."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from footlight.browser.network import RESOURCE_TYPES, LogFilter, MockResponse, Throttling
from footlight.browser.overview import EntryInfo, LogCounts, entry_info, log_counts
from footlight.errors import InvalidParameter
from footlight.server.tool import Count, Number, ToolCall, Whole, tool

__all__ = ["TOOLS"]

Action = Literal["add", "remove", "list"]


class Mocked(TypedDict):
    url: str
    status: int


class RulesInForce(TypedDict):
    """All rules of the session after the call."""

    blocked: list[str]
    mocks: list[Mocked]


class Offline(TypedDict):
    offline: bool


class Throttled(TypedDict):
    downloadSpeed: float
    uploadSpeed: float
    latency: float


class Log(LogCounts):
    """The counts are of all matching requests, the entries one page of them."""

    entries: list[EntryInfo]
    nextOffset: NotRequired[int]


HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
HeaderValue = Annotated[str, Field(pattern=r"^[\t\x20-\x7e\x80-\xff]*$")]


class Response(BaseModel):
    """What a mocked URL answers; a body that is no string is sent as JSON."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    status: Annotated[Whole, Field(ge=200, le=599)] = 200
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    body: Any = None
    content_type: HeaderValue | None = None


Rule = Annotated[Action, Field(description="list and remove show and undo what was set")]


@tool(scope="session", effect="configure", idempotent=True)
async def block_resource(call: ToolCall, resource_type: str, action: Rule = "add") -> RulesInForce:
    """Block resource type. Such as image, font, stylesheet, script, media, xhr, fetch or websocket."""
    if action != "list" and resource_type not in RESOURCE_TYPES:
        known = ", ".join(RESOURCE_TYPES)
        raise InvalidParameter(
            f"resourceType: {resource_type!r} is none of {known}", parameter="resourceType"
        )
    if action == "add":
        await call.session.rules.block(resource_type)
    elif action == "remove":
        await call.session.rules.unblock(resource_type)
    return rules_in_force(call)


@tool(scope="session", effect="configure", idempotent=True)
async def mock_response(
    call: ToolCall,
    url: Annotated[str, Field(min_length=1, description="The whole URL, or a pattern with *")],
    response: Annotated[
        Response,
        Field(
            description="{status?, headers?, body?, contentType?}; a body that is no string is sent as JSON"
        ),
    ],
    action: Rule = "add",
) -> RulesInForce:
    """Mock API response. Requests for the URL get it without reaching the network."""
    if action == "add":
        mock = MockResponse.of(
            status=response.status,
            headers=response.headers,
            body=response.body,
            content_type=response.content_type,
        )
        await call.session.rules.mock(url, mock)
    elif action == "remove":
        await call.session.rules.unmock(url)
    return rules_in_force(call)


@tool(scope="session", effect="configure", idempotent=True)
async def set_offline(call: ToolCall, offline: bool) -> Offline:
    """Set offline mode"""
    await call.session.set_offline(offline)
    return {"offline": offline}


Speed = Annotated[Number, Field(ge=-1, description="Bytes per second; -1 is no limit")]


@tool(scope="session", effect="configure", idempotent=True)
async def set_throttling(
    call: ToolCall,
    download_speed: Speed,
    upload_speed: Speed,
    latency: Annotated[Number, Field(ge=0, le=600_000, description="Milliseconds")],
) -> Throttled:
    """Set network throttling. Chromium only."""
    await call.session.throttle(Throttling(download_speed, upload_speed, latency))
    return {"downloadSpeed": download_speed, "uploadSpeed": upload_speed, "latency": latency}


@tool(scope="session", effect="read")
async def get_request_log(
    call: ToolCall,
    filter: Annotated[str | None, Field(description="Part of the URL, or a pattern with *")] = None,
    resource_type: Annotated[str | None, Field(description="document, script, fetch, …")] = None,
    method: Annotated[str | None, Field(description="GET, POST, …")] = None,
    status: Annotated[Number | None, Field(description="0: no response")] = None,
    page_id: Annotated[str | None, Field(description="Only this page's requests")] = None,
    offset: Annotated[Whole, Field(ge=0)] = 0,
    limit: Annotated[Count, Field(le=1000)] = 100,
) -> Log:
    """Get network log. Oldest first, a page of `limit` entries from `offset`."""
    matching = call.session.log.matching(
        LogFilter(
            url=filter,
            resource_type=resource_type,
            method=method,
            status=None if status is None else int(status),
            page=page_id,
        )
    )
    log: Log = {
        **log_counts(matching),
        "entries": [entry_info(entry) for entry in matching[offset : offset + limit]],
    }
    if offset + limit < len(matching):
        log["nextOffset"] = offset + limit
    return log


def rules_in_force(call: ToolCall) -> RulesInForce:
    rules = call.session.rules
    return {
        "blocked": list(rules.blocked),
        "mocks": [{"url": url, "status": mock.status} for url, mock in rules.mocks.items()],
    }


TOOLS = (block_resource, mock_response, set_offline, set_throttling, get_request_log)
