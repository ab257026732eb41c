"""Run the work of a call until it ends, or until a dialog blocks its page."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from footlight.browser.actions.dialogs import find_blocking_dialog
from footlight.browser.actions.expectation import PAGE_CLOSED
from footlight.browser.page.page_operations import end_at_crash
from footlight.errors import ExpectationFailedError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.page.dialogs import OpenDialog
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.parameter_types import Expect
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["check_expectation", "check_no_dialog", "make_stopped_result", "run_until_dialog"]

T = TypeVar("T")


async def check_no_dialog(call: ToolCall) -> None:
    """Check that no dialog blocks the call's page.

    Raises:
        DialogOpenError: a dialog blocks the page.
    """
    if call.maybe_page and (dialog := await find_blocking_dialog(call.page)):
        raise dialog.error()


async def run_until_dialog(call: ToolCall, work: Coroutine[Any, Any, T]) -> T | None:
    """Return the result of the work, or None if a dialog blocks its page before the work is done.

    A call without a page is stopped by the next dialog of its session.

    Raises:
        BrowserCrashedError: the page crashed, and the work did not notice it.
    """
    if call.maybe_page is None:
        return await _run_until_dialog(call, work)
    async with end_at_crash(call.maybe_page):
        return await _run_until_dialog(call, work)


async def _run_until_dialog(call: ToolCall, work: Coroutine[Any, Any, T]) -> T | None:
    dialogs = call.session.dialogs
    if not dialogs.asks:
        return await work
    if call.maybe_page and await find_blocking_dialog(call.page):
        work.close()
        return None
    limit = asyncio.timeout(None)
    try:
        async with limit:
            watching = asyncio.create_task(_end_at_dialog(call, limit))
            try:
                return await work
            finally:
                watching.cancel()
    except TimeoutError:
        if not limit.expired():
            raise
        return None


async def _end_at_dialog(call: ToolCall, limit: asyncio.Timeout) -> None:
    """End `limit` when a dialog opens that blocks the call's page, or any dialog if it has no page."""
    await call.session.dialogs.wait_for_next()
    while call.maybe_page and not await find_blocking_dialog(call.page):
        await call.session.dialogs.wait_for_next()
    limit.reschedule(asyncio.get_running_loop().time())


async def make_stopped_result(tool: Tool, call: ToolCall) -> Mapping[str, Any]:
    """Return the data of an action that a dialog stopped. The events of its answer contain the dialog.

    Raises:
        DialogOpenError: the tool is not an action, so its call can be repeated.
    """
    dialog = _find_dialog(call)
    if tool.effect != "act" and dialog:
        raise dialog.error()
    pages = call.session.page_table
    page = call.maybe_page or (dialog and pages.find(dialog.playwright.page)) or await pages.get()
    return {"url": page.url}


async def check_expectation(call: ToolCall, arguments: BaseModel, *, since: float) -> None:
    """Wait until the page meets the call's expectation, if the call has one.

    Raises:
        ExpectationFailedError: the page does not meet it in time, is closed, or is blocked by a dialog.
    """
    expect: Expect | None = getattr(arguments, "expect", None)
    if expect is None:
        return
    page, actual = call.maybe_page, PAGE_CLOSED
    if page and not page.closed:
        if await run_until_dialog(call, call.meet(expect.make_expectation(), since=since)):
            return
        dialog = _find_dialog(call)
        actual = f"a dialog is open: {dialog.type}" if dialog else "a dialog was open"
    expected = expect.model_dump(exclude_none=True)
    raise ExpectationFailedError(
        f"The expectation cannot be checked: {actual}", expected=expected, actual=actual
    )


def _find_dialog(call: ToolCall) -> OpenDialog | None:
    dialogs = call.session.dialogs
    own = dialogs.find(call.page.id) if call.maybe_page else None
    return own or next(reversed(dialogs.open), None)
