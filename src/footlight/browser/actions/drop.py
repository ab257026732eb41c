"""Drop content from outside the page onto an element: files, text, links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import PlaywrightTimeout
from footlight.browser.page.element_operations import act_on_element
from footlight.browser.page.page_operations import send_input, undo_on_cancel
from footlight.browser.page.press_check import take_outcome, watch_drop
from footlight.errors import ElementNotInteractiveError, InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["drop_onto_element"]

MAX_BYTES = 50_000_000
"""The maximum total size of the files outside Chromium, where they reach the page through memory."""
ALLOW_COPY = 1
"""The drag operation that Chromium allows."""


async def drop_onto_element(
    page: Page, selector: str, files: Sequence[Path], data: Mapping[str, str], deadline: Deadline
) -> bool:
    """Drop files and `data` (texts by MIME type) onto the middle of an element.

    Return whether the browser itself has dragged them, which only Chromium supports. In other browsers a
    script dispatches the events, and a page can distinguish them from those of a user.

    Raises:
        InvalidParameterError: the files are too large for a drop.
        ElementNotInteractiveError: the page does not accept the drop at this element.
    """
    if page.session.engine != "chromium":
        await _drop_by_script(page, selector, files, data, deadline)
        return False

    async def drag(element: Locator, timeout_ms: float) -> None:
        # This scrolls to the element and checks that it can be reached. It does not move the mouse.
        await element.hover(trial=True, timeout=timeout_ms)
        box = await watch_drop(element, timeout_ms).bounding_box(timeout=deadline.element_ms)
        if box is None:
            raise PlaywrightTimeout("The element has no box any more")
        cdp = await page.playwright.context.new_cdp_session(page.playwright)
        try:
            event = _drag_event(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, files, data)
            async with undo_on_cancel(lambda: _cancel(cdp, event), lambda: take_outcome(page)):
                await _send(page, cdp, event, deadline)
        finally:
            await cdp.detach()
        if (await take_outcome(page)).state != "arrived":
            raise ElementNotInteractiveError(
                f'"{selector}": the page does not take what is dropped there',
                selector=selector,
                page=page.url,
            )

    await act_on_element(page, selector, deadline, drag)
    return True


def _drag_event(x: float, y: float, files: Sequence[Path], data: Mapping[str, str]) -> dict[str, Any]:
    items = [{"mimeType": kind, "data": text} for kind, text in data.items()]
    paths = [str(file) for file in files]
    dragged = {"items": items, "files": paths, "dragOperationsMask": ALLOW_COPY}
    return {"x": x, "y": y, "data": dragged}


async def _send(page: Page, cdp: CDPSession, event: dict[str, Any], deadline: Deadline) -> None:
    def message() -> str:
        return f"The drop had no answer after {deadline.elapsed}; its events had been sent"

    async with send_input(page, message, deadline):
        # While content is dragged over it, the page decides whether to accept it.
        for kind in ("dragEnter", "dragOver", "drop"):
            await cdp.send("Input.dispatchDragEvent", {**event, "type": kind})


async def _cancel(cdp: CDPSession, event: dict[str, Any]) -> None:
    await cdp.send("Input.dispatchDragEvent", {**event, "type": "dragCancel"})


async def _drop_by_script(
    page: Page, selector: str, files: Sequence[Path], data: Mapping[str, str], deadline: Deadline
) -> None:
    size = sum(file.stat().st_size for file in files)
    if size > MAX_BYTES:
        raise InvalidParameterError(
            f"files: {size} bytes are more than the {MAX_BYTES} that can be dropped",
            parameter="files",
            suggestion="Use upload_file on the file input beside it, which has no such limit.",
        )
    await act_on_element(
        page,
        selector,
        deadline,
        lambda element, timeout_ms: element.drop(
            {"files": list(files) or None, "data": dict(data) or None}, timeout=timeout_ms
        ),
    )
