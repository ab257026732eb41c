"""A call and the dialogs that are left open: it does not wait for a page that waits for an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from footlight.browser.dialogs import OpenDialog
    from footlight.server.tool import Tool, ToolCall

__all__ = ["check_no_dialog", "cut_short", "until_dialog"]

T = TypeVar("T")


async def check_no_dialog(call: ToolCall) -> None:
    """Raises DialogOpen where the call's page stands still for one."""
    if call.maybe_page and (dialog := await call.session.dialogs.blocking(call.page)):
        raise dialog.error()


async def until_dialog(call: ToolCall, work: Coroutine[Any, Any, T]) -> T | None:
    """What the work gives; None where it was cut short, or not begun, because its page stands still.

    A call that has no page of its own is cut short by the next dialog of its session.
    """
    dialogs = call.session.dialogs
    if not dialogs.asks:
        return await work
    if call.maybe_page and await dialogs.blocking(call.page):
        work.close()
        return None
    limit = asyncio.timeout(None)
    try:
        async with limit:
            watching = asyncio.create_task(_end_with_dialog(call, limit))
            try:
                return await work
            finally:
                watching.cancel()
    except TimeoutError:
        if not limit.expired():
            raise
        return None


async def _end_with_dialog(call: ToolCall, limit: asyncio.Timeout) -> None:
    """A dialog of another page is no matter, unless it stops the scripts of the call's page too."""
    await call.session.dialogs.opened()
    while call.maybe_page and not await call.session.dialogs.blocking(call.page):
        await call.session.dialogs.opened()
    limit.reschedule(asyncio.get_running_loop().time())


async def cut_short(tool: Tool, call: ToolCall) -> Mapping[str, Any]:
    """What an acting call answers that was cut short: it has begun, and its dialog is told beside it.

    Raises:
        DialogOpen: the call acts on nothing, so it can be made again.
    """
    dialog = _dialog_of(call)
    if tool.effect != "act" and dialog:
        raise dialog.error()
    page = call.maybe_page or (dialog.page if dialog else await call.session.page())
    return {"url": page.url}


def _dialog_of(call: ToolCall) -> OpenDialog | None:
    dialogs = call.session.dialogs
    own = dialogs.find(call.page) if call.maybe_page else None
    return own or next(reversed(dialogs.open), None)
