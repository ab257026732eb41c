"""Going from page to page (003 §2.1, R003-5 to R003-9)."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import navigation
from footlight.browser.navigation import Navigation
from footlight.server.tool import Milliseconds, ToolCall, tool
from footlight.toolsets.browser.parameters import Acted, acted

__all__ = ["TOOLS"]

WaitUntil = Literal["load", "domcontentloaded", "networkidle"]

Url = Annotated[str, Field(min_length=1, description="The URL to navigate to")]
NavigationTimeout = Annotated[
    Milliseconds | None,
    Field(
        description="Navigation timeout in milliseconds",
        json_schema_extra={"default": 30000},
    ),
]


class Timing(TypedDict):
    """Milliseconds: `startTime` since the epoch, the others since `startTime`."""

    startTime: float
    domContentLoaded: float | None
    loadComplete: float | None
    duration: float


class Navigated(TypedDict):
    """`status` is null where nothing was requested: about:blank, an anchor, a download."""

    url: str
    status: int | None
    redirected: bool
    finalUrl: str
    timing: Timing


class Moved(Navigated):
    """`moved` is false at the end of the history."""

    moved: bool


@tool(effect="act", destructive=False, timeout=NavigationTimeout)
async def navigate(
    call: ToolCall,
    url: Url,
    wait_until: Annotated[WaitUntil, Field(description="When to consider navigation complete")] = "load",
) -> Navigated:
    """Navigate to URL. Answers with the final URL, the HTTP status and the timing."""
    return _navigated(await navigation.navigate(call.page, url, wait_until, call.deadline))


@tool(effect="act")
async def go_back(call: ToolCall) -> Moved:
    """Navigate back"""
    before = call.page.url
    return _moved(await navigation.go_back(call.page, call.deadline), before)


@tool(effect="act")
async def go_forward(call: ToolCall) -> Moved:
    """Navigate forward"""
    before = call.page.url
    return _moved(await navigation.go_forward(call.page, call.deadline), before)


@tool(effect="act", idempotent=True)
async def reload(call: ToolCall, ignore_cache: bool = False) -> Navigated:
    """Reload page"""
    return _navigated(await navigation.reload(call.page, call.deadline, ignore_cache=ignore_cache))


@tool(effect="read")
async def wait_for_load(call: ToolCall, state: WaitUntil = "load") -> Acted:
    """Wait for page load"""
    await navigation.wait_for_load(call.page, state, call.deadline)
    return acted(call)


def _navigated(made: Navigation) -> Navigated:
    return {
        "url": made.url,
        "status": made.status,
        "redirected": made.redirected,
        "finalUrl": made.url,
        "timing": {
            "startTime": made.start_time,
            "domContentLoaded": made.dom_content_loaded,
            "loadComplete": made.load_complete,
            "duration": made.duration,
        },
    }


def _moved(made: Navigation, before: str) -> Moved:
    return {**_navigated(made), "moved": made.status is not None or made.url != before}


TOOLS = (navigate, go_back, go_forward, reload, wait_for_load)
