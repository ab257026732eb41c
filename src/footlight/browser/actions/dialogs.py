"""Answer a dialog that was left open, and find the dialog that blocks a page."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.dialogs import send_answer
from footlight.errors import InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from footlight.browser.page.dialogs import OpenDialog
    from footlight.browser.page.page import Page

__all__ = ["answer_dialog", "find_blocking_dialog"]

LEAVE_MS = 2_000
"""How long a page may take to leave after its `beforeunload` dialog was accepted."""


async def find_blocking_dialog(page: Page) -> OpenDialog | None:
    """Return the dialog that blocks the page: its own, or that of another page in the same process."""
    dialogs = page.session.dialogs
    if dialogs.open and not dialogs.find(page.id) and not await page.responds():
        return dialogs.find(page.id) or next(iter(dialogs.open), None)
    return dialogs.find(page.id)


async def answer_dialog(page: Page, dialog: OpenDialog, *, accept: bool, text: str | None = None) -> None:
    """Answer a dialog of the page, and wait until its script has ended or has opened the next dialog.

    Raises:
        InvalidParameterError: `text` is given for a dialog without a text field, or the dialog is gone.
    """
    if text is not None and (dialog.type != "prompt" or not accept):
        raise InvalidParameterError(
            f"promptText: only a prompt that is accepted takes a text; this dialog is "
            f"{_with_article(dialog.type)}, and accept is {str(accept).lower()}",
            parameter="promptText",
        )
    page.session.dialogs.forget(page.id)
    continuing = asyncio.create_task(
        _wait_until_continued(page, leaves=dialog.type == "beforeunload" and accept)
    )
    try:
        await send_answer(dialog.playwright, accept=accept, text=text)
        await continuing
    except Error as error:
        raise InvalidParameterError(
            f"pageId: the dialog of {page.id} was gone before it could be answered", parameter="pageId"
        ) from error
    finally:
        continuing.cancel()


async def _wait_until_continued(page: Page, *, leaves: bool) -> None:
    """Wait until the page's script has ended, or has opened the next dialog."""
    next_dialog = asyncio.create_task(page.session.dialogs.wait_for_next())
    script_end = asyncio.create_task(_wait_for_script_end(page, leaves=leaves))
    try:
        await asyncio.wait({next_dialog, script_end}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        next_dialog.cancel()
        script_end.cancel()


async def _wait_for_script_end(page: Page, *, leaves: bool) -> None:
    if leaves:

        def is_main(frame: Frame) -> bool:
            return frame == page.playwright.main_frame

        with contextlib.suppress(Error):  # The page was closed, or stayed after all.
            await page.playwright.wait_for_event("framenavigated", is_main, timeout=LEAVE_MS)
    await page.finish_interrupted()
    await page.responds()


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun.startswith("a") else f"a {noun}"
