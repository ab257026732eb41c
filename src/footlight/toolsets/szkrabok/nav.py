"""`nav.*`: going from page to page."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import navigation
from footlight.errors import NavigationFailed, NetworkFailed
from footlight.server.tool import ToolCall
from footlight.toolsets.szkrabok.parameters import named_tool, title_of

if TYPE_CHECKING:
    from footlight.browser.deadline import Deadline
    from footlight.browser.navigation import Navigation
    from footlight.browser.page import Page

__all__ = ["TOOLS", "Arrived", "WaitUntil", "go_to"]

WaitUntil = Literal["load", "domcontentloaded", "networkidle"]


class Arrived(TypedDict):
    """`status` is null where nothing was requested: about:blank, an anchor, a download."""

    url: str
    title: str
    status: int | None


class Moved(TypedDict):
    """`moved` is false at the end of the history."""

    url: str
    title: str
    moved: bool


@named_tool("nav.goto", effect="act", untrusted=True)
async def goto(
    call: ToolCall,
    url: Annotated[str, Field(min_length=1)],
    wait: Annotated[WaitUntil, Field(description="When it counts as loaded")] = "load",
) -> Arrived:
    """Go to a URL"""
    return await go_to(call, url, wait)


@named_tool("nav.back", effect="act", untrusted=True)
async def back(call: ToolCall) -> Moved:
    """Go back in the history"""
    return await _moved(call, navigation.go_back)


@named_tool("nav.forward", effect="act", untrusted=True)
async def forward(call: ToolCall) -> Moved:
    """Go forward in the history"""
    return await _moved(call, navigation.go_forward)


async def go_to(call: ToolCall, url: str, wait: WaitUntil) -> Arrived:
    """Open a URL in the call's page.

    Raises:
        FootlightError: it could not be opened. The message begins with the browser's own name for that.
    """
    with _browsers_words():
        made = await navigation.navigate(call.page, url, wait, call.deadline)
    return {"url": made.url, "title": await title_of(call), "status": made.status}


async def _moved(call: ToolCall, move: Callable[[Page, Deadline], Awaitable[Navigation]]) -> Moved:
    before = call.page.url
    with _browsers_words():
        made = await move(call.page, call.deadline)
    moved = made.status is not None or made.url != before
    return {"url": made.url, "title": await title_of(call), "moved": moved}


@contextlib.contextmanager
def _browsers_words() -> Generator[None]:
    """`net::ERR_NAME_NOT_RESOLVED at http://…`, as Playwright has it, in place of our sentence."""
    try:
        yield
    except (NavigationFailed, NetworkFailed) as error:
        before, found, reason = error.message.rpartition(" could not be opened: ")
        if found:
            error.message = f"{reason} at {before}"
            error.args = (error.message,)
        raise


TOOLS = (goto, back, forward)
