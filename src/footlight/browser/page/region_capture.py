"""Take a snapshot of a part of a page, or with the places of its elements, without remembering it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.capture import FRAME_SECONDS, ask, ask_about, find_child_frame
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.element_operations import read_element
from footlight.browser.page.page_operations import limit_reading, retry_after_navigation
from footlight.browser.snapshot.nodes import Node, Snapshot, parse_node
from footlight.browser.snapshot.view import FrameView

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["look_at"]


async def look_at(
    page: Page, deadline: Deadline, *, selector: str | None = None, boxes: bool = False
) -> Snapshot:
    """Return a snapshot of the page, or of an element and what is inside it.

    With `boxes`, nodes have the boxes of their elements in the page's viewport.

    Raises:
        FootlightError: there is no such element, the page does not answer, or is gone.
    """
    if selector is None:
        try:
            async with limit_reading(page, deadline):
                return await retry_after_navigation(lambda: _look_at_page(page, boxes=boxes))
        except Error as error:
            raise await explain_page_failure(page, error) from error

    async def look_below(element: Locator, timeout_ms: float) -> Snapshot:
        async with page.view.numbers.reserve() as given:
            reply = await ask_about(element, _request(given, boxes=boxes), timeout_ms=timeout_ms)
            page.view.numbers.next = reply["next"]
        frame = await _frame_of(element)
        return Snapshot(reply["url"], reply["title"], await _join_frames(page, frame, reply, 0, boxes=boxes))

    return await read_element(page, selector, deadline, look_below)


async def _look_at_page(page: Page, *, boxes: bool) -> Snapshot:
    main = page.playwright.main_frame
    reply = await _look_into(page, main, boxes=boxes)
    return Snapshot(reply["url"], reply["title"], await _join_frames(page, main, reply, 0, boxes=boxes))


async def _look_into(page: Page, frame: Frame, *, boxes: bool) -> dict[str, Any]:
    async with page.view.numbers.reserve() as given:
        reply = await ask(frame, _request(given, boxes=boxes))
        page.view.numbers.next = reply["next"]
    return reply


def _request(given: dict[str, Any], *, boxes: bool) -> dict[str, Any]:
    return {"what": "look", "boxes": boxes, **given}


async def _join_frames(
    page: Page, frame: Frame, reply: dict[str, Any], depth: int, *, boxes: bool
) -> list[Node]:
    """Return the nodes of a reply, with those of inner frames after their `iframe`."""
    nodes: list[Node] = []
    view = page.view.frames.setdefault(frame, FrameView())
    for record in reply["nodes"]:
        node = parse_node(record, depth=depth)
        nodes.append(node)
        if node.is_frame and node.ref and (child := await find_child_frame(view, frame, node.ref)):
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(FRAME_SECONDS):
                    inner = await _look_into(page, child, boxes=boxes)
                below = await _join_frames(page, child, inner, node.depth + 1, boxes=boxes)
                nodes += _move_into_frame(below, node) if boxes else below
    return nodes


def _move_into_frame(nodes: list[Node], frame: Node) -> list[Node]:
    """Return the nodes with their boxes in the viewport of the frame above."""
    if frame.box is None:
        return nodes
    left, top = frame.box.x + frame.inside[0], frame.box.y + frame.inside[1]
    return [
        replace(node, box=node.box._replace(x=node.box.x + left, y=node.box.y + top)) if node.box else node
        for node in nodes
    ]


async def _frame_of(element: Locator) -> Frame:
    handle = await element.element_handle()
    frame = await handle.owner_frame()
    await handle.dispose()
    assert frame is not None
    return frame
