"""`nav.*`: go from page to page."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.actions import navigation
from footlight.errors import NavigationFailedError, NetworkFailedError
from footlight.server.tools import ToolCall
from footlight.toolsets.szkrabok.parameters import get_title, named_tool

if TYPE_CHECKING:
    from footlight.browser.actions.navigation import Navigation
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["TOOLS", "OpenedPage", "WaitUntil", "go_to"]

WaitUntil = Literal["load", "domcontentloaded", "networkidle"]


class OpenedPage(TypedDict):
    """`status` is null if nothing was requested: about:blank, an anchor, a download."""

    url: str
    title: str
    status: int | None


class HistoryMoved(TypedDict):
    """`moved` is false at the end of the history."""

    url: str
    title: str
    moved: bool


@named_tool("nav.goto", effect="act", untrusted=True)
async def goto(
    call: ToolCall,
    url: Annotated[str, Field(min_length=1)],
    wait: Annotated[WaitUntil, Field(description="When to consider navigation complete")] = "load",
) -> OpenedPage:
    """Go to a URL"""
    return await go_to(call, url, wait)


@named_tool("nav.back", effect="act", untrusted=True)
async def back(call: ToolCall) -> HistoryMoved:
    """Go back in the history"""
    return await _move(call, navigation.go_back)


@named_tool("nav.forward", effect="act", untrusted=True)
async def forward(call: ToolCall) -> HistoryMoved:
    """Go forward in the history"""
    return await _move(call, navigation.go_forward)


async def go_to(call: ToolCall, url: str, wait: WaitUntil) -> OpenedPage:
    """Open a URL in the call's page.

    Raises:
        FootlightError: The URL could not be opened. The message begins with the browser's error name.
    """
    with _use_browser_message():
        made = await navigation.navigate(call.page, url, wait, call.deadline)
    return {"url": made.url, "title": await get_title(call), "status": made.status}


async def _move(call: ToolCall, move: Callable[[Page, Deadline], Awaitable[Navigation]]) -> HistoryMoved:
    before = call.page.url
    with _use_browser_message():
        made = await move(call.page, call.deadline)
    moved = made.status is not None or made.url != before
    return {"url": made.url, "title": await get_title(call), "moved": moved}


@contextlib.contextmanager
def _use_browser_message() -> Generator[None]:
    """Give navigation errors Playwright's message: `net::ERR_NAME_NOT_RESOLVED at http://…`."""
    try:
        yield
    except (NavigationFailedError, NetworkFailedError) as error:
        before, found, reason = error.message.rpartition(" could not be opened: ")
        if found:
            error.message = f"{reason} at {before}"
            error.args = (error.message,)
        raise


TOOLS = (goto, back, forward)
