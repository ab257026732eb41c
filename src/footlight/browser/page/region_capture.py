"""Take a snapshot of a part of a page, or one with element boxes, without storing it in the page's view."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.capture import (
    FRAME_SECONDS,
    FRAMES_SECONDS,
    FrameJoiner,
    ask,
    ask_about,
    read_nodes,
)
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.element_operations import read_element
from footlight.browser.page.page_operations import limit_reading, retry_after_navigation
from footlight.browser.snapshot.nodes import Snapshot

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page
    from footlight.browser.snapshot.nodes import Node

__all__ = ["find_ref", "look_at"]


async def look_at(
    page: Page,
    deadline: Deadline,
    *,
    selector: str | None = None,
    boxes: bool = False,
    test_ids: bool = False,
) -> Snapshot:
    """Return a snapshot of the page, or of an element and its descendants.

    With `boxes`, nodes have the boxes of their elements in the page's viewport. With `test_ids`, elements
    that have only a test id also get nodes.

    Raises:
        FootlightError: the element does not exist, the page does not respond, or it is gone.
    """
    details = {"boxes": boxes, "testIds": test_ids}
    if selector is None:
        try:
            async with limit_reading(page, deadline):
                return await retry_after_navigation(lambda: _look_at_page(page, details))
        except Error as error:
            raise await explain_page_failure(page, error) from error

    async def look_below(element: Locator, timeout_ms: float) -> Snapshot:
        async with page.view.numbers.reserve() as ref_numbers:
            reply = await ask_about(
                element, {"what": "look", **details, **ref_numbers}, timeout_ms=timeout_ms
            )
            page.view.numbers.next = reply["next"]
        return await _make_snapshot(page, await _frame_of(element), reply, details)

    return await read_element(page, selector, deadline, look_below)


async def find_ref(page: Page, selector: str, deadline: Deadline) -> str:
    """Return the ref of the first match, without reading its descendants.

    Raises:
        FootlightError: the element does not exist, the page does not respond, or it is gone.
    """

    async def read(element: Locator, timeout_ms: float) -> str:
        async with page.view.numbers.reserve() as ref_numbers:
            request = {"what": "ref", **ref_numbers}
            reply = await ask_about(element, request, timeout_ms=timeout_ms)
            page.view.numbers.next = reply["next"]
        return reply["ref"]

    return await read_element(page, selector, deadline, read)


async def _look_at_page(page: Page, details: dict[str, bool]) -> Snapshot:
    main = page.playwright.main_frame
    return await _make_snapshot(page, main, await _look_into(page, main, details), details)


async def _look_into(page: Page, frame: Frame, details: dict[str, bool]) -> dict[str, Any]:
    async with page.view.numbers.reserve() as ref_numbers:
        reply = await ask(frame, {"what": "look", **details, **ref_numbers})
        page.view.numbers.next = reply["next"]
    return reply


async def _make_snapshot(
    page: Page, frame: Frame, reply: dict[str, Any], details: dict[str, bool]
) -> Snapshot:
    """Return the snapshot of a reply, with the nodes of inner frames."""

    async def read(inner: Frame, depth: int) -> Sequence[Node] | None:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(FRAME_SECONDS):
                return await read_nodes(await _look_into(page, inner, details), (), depth)
        return None

    joiner = FrameJoiner(page, read, page.view.frames, time.monotonic() + FRAMES_SECONDS)
    nodes = await joiner.join(frame, await read_nodes(reply, (), 0))
    return Snapshot(reply["url"], reply["title"], nodes)


async def _frame_of(element: Locator) -> Frame:
    handle = await element.element_handle()
    frame = await handle.owner_frame()
    await handle.dispose()
    assert frame is not None
    return frame
