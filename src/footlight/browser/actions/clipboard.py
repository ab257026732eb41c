"""Read and write the clipboard in the way a page does. Chromium only.

All sessions in a browser share its clipboard, and a paste in any of their pages inserts its content. A
headless browser does not use the clipboard of the machine. Chromium reports neither copying nor pasting
pages, so sessions cannot have separate clipboards. Do not put secrets into the clipboard.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_api import Error, cause, is_closed
from footlight.browser.page.diagnosis import explain_closed_page
from footlight.browser.page.page_operations import limit_reading, undo
from footlight.browser.snapshot.text.quoting import shorten
from footlight.errors import InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["ClipboardContent", "read_clipboard", "write_clipboard"]

_STATE, _READ, _WRITE = (
    page_function(Path(__file__).parent, ["clipboard"], name)
    for name in ("describeClipboard", "readClipboard", "writeClipboard")
)


@dataclass(frozen=True, slots=True)
class ClipboardContent:
    """The content of the clipboard.

    `text` is "" if it has none. `types` are the media types of all content.
    """

    text: str
    html: str | None
    types: tuple[str, ...]


async def read_clipboard(page: Page, deadline: Deadline) -> ClipboardContent:
    """Return the content of the clipboard.

    Raises:
        InvalidParameterError: the page cannot use the clipboard.
    """
    async with _permit(page, "clipboard-read", deadline):
        read = await _run_once(page, _READ, None, deadline)
    return ClipboardContent(read["text"], read["html"], tuple(read["types"]))


async def write_clipboard(page: Page, text: str, deadline: Deadline, *, html: str | None = None) -> None:
    """Replace the content of the clipboard.

    Raises:
        InvalidParameterError: the page cannot use the clipboard.
    """
    async with _permit(page, "clipboard-write", deadline):
        await _run_once(page, _WRITE, {"text": text, "html": html}, deadline)


@contextlib.asynccontextmanager
async def _permit(page: Page, permission: str, deadline: Deadline) -> AsyncGenerator[None]:
    """Grant a permission to the page's origin in this block, and restore its previous state afterwards."""
    if page.session.engine != "chromium":
        raise InvalidParameterError(
            f"clipboard needs Chromium; this session runs {page.session.engine}", engine=page.session.engine
        )
    state = await _run_once(page, _STATE, permission, deadline)
    if not state["secure"]:
        raise InvalidParameterError(
            f"pageId: {shorten(page.url, 200)} has no clipboard: only https pages have one, and http on "
            "loopback",
            parameter="pageId",
            suggestion="Navigate to such a page first.",
            page=page.url,
        )
    if state["permission"] == "granted":
        yield
        return
    cdp = await page.playwright.context.new_cdp_session(page.playwright)
    target = cast("dict[str, Any]", await cdp.send("Target.getTargetInfo"))["targetInfo"]

    async def allow(setting: str) -> None:
        await cdp.send(
            "Browser.setPermission",
            {
                "permission": {"name": permission},
                "setting": setting,
                "origin": state["origin"],
                "browserContextId": target.get("browserContextId"),
            },
        )

    try:
        await allow("granted")
        yield
    finally:
        await undo(lambda: allow(state["permission"]))
        await undo(cdp.detach)


async def _run_once(page: Page, script: str, argument: Any, deadline: Deadline) -> Any:
    """Run a script once, and return its result. It is not retried, because a write may have been done."""
    async with limit_reading(page, deadline):
        try:
            return await page.playwright.evaluate(script, argument)
        except Error as error:
            if is_closed(error) or page.crashed:
                raise await explain_closed_page(page) from error
            raise InvalidParameterError(
                f"pageId: the page could not use its clipboard: {cause(error)}",
                parameter="pageId",
                page=page.url,
            ) from error
