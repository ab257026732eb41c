"""Looking at a page: one pass of `snapshot.js` over each frame, stitched into one tree.

The script is a selector engine of Playwright, which runs in a world of its own that pages can neither see
nor bend. It answers with an element made for the purpose, whose attribute holds the reply.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from footlight.browser._playwright import Error
from footlight.browser.diagnosis import explained
from footlight.browser.snapshot import Node, Snapshot, node_of
from footlight.browser.view import FrameView
from footlight.errors import InternalError

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator, Playwright

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["ENGINE", "ask", "ask_about", "glance", "look", "look_at", "register_engine"]

ENGINE = "footlight"
"""The selector engine: `footlight=e12` is an element, anything else a question."""

FRAME_SECONDS = 1.0
"""How long one frame may take; a frame that does not answer is shown without content."""
MOST_FRAMES = 100


async def register_engine(playwright: Playwright) -> None:
    """Before any page is made."""
    source = Path(__file__).with_name("snapshot.js")
    await playwright.selectors.register(ENGINE, path=source, content_script=True)


async def look(page: Page, deadline: Deadline) -> Snapshot:
    """The whole page, now.

    Raises:
        FootlightError: the page gives no answer, or is gone.
    """
    try:
        async with page.within(deadline):
            return await page.despite_navigation(lambda: _look(page))
    except Error as error:
        raise await explained(page, error) from error


async def glance(page: Page, seconds: float) -> Snapshot | None:
    """The whole page, now; None where it gives no answer in time."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            return await page.despite_navigation(lambda: _look(page))
    return None


async def look_at(
    page: Page, deadline: Deadline, *, selector: str | None = None, boxes: bool = False
) -> Snapshot:
    """The page, or what is below an element; with the boxes of the elements in the page's viewport.

    Raises:
        FootlightError: no such element, the page gives no answer, or is gone.
    """
    if selector is None:
        try:
            async with page.within(deadline):
                return await page.despite_navigation(lambda: _look_apart(page, boxes=boxes))
        except Error as error:
            raise await explained(page, error) from error

    async def look_below(element: Locator, timeout_ms: float) -> Snapshot:
        async with page.view.numbers.given() as next:
            reply = await ask_about(element, _apart(next, boxes=boxes), timeout_ms=timeout_ms)
            page.view.numbers.next = reply["next"]
        frame = await _frame_around(element)
        return Snapshot(reply["url"], reply["title"], await _stitched_apart(page, frame, reply, 0, boxes))

    return await page.ask(selector, deadline, look_below)


async def ask(frame: Frame, request: dict[str, Any]) -> Any:
    """A question to `snapshot.js` about a frame's document."""
    return _read(await frame.get_attribute(_query(request), "v", timeout=0))


async def ask_about(element: Locator, request: dict[str, Any], *, timeout_ms: float) -> Any:
    """A question about an element, when it is there."""
    return _read(await element.locator(_query(request)).get_attribute("v", timeout=timeout_ms))


def _query(request: dict[str, Any]) -> str:
    return f"{ENGINE}={quote(json.dumps(request))}"


def _read(reply: str | None) -> Any:
    value: Any = json.loads(reply or "null")
    if isinstance(value, dict) and (error := cast("dict[str, Any]", value).get("error")):
        raise InternalError(f"The page could not be read: {error}")
    return cast("Any", value)


async def _look(page: Page) -> Snapshot:
    view, main = page.view, page.playwright.main_frame
    before, view.frames = view.frames, {}
    try:
        reply = await _pass(page, main, before.get(main), 0)
        nodes = await _stitched(page, main, before)
    except BaseException:
        view.frames = before
        raise
    snapshot = Snapshot(reply["url"], reply["title"], nodes)
    view.see(snapshot)
    return snapshot


async def _pass(page: Page, frame: Frame, before: FrameView | None, depth: int) -> dict[str, Any]:
    """One look into a frame, whose content is so deep in the page."""
    last = before if before and before.depth == depth else FrameView()
    async with page.view.numbers.given() as next:
        reply = await ask(frame, {"what": "look", "next": next, "since": last.generation})
        page.view.numbers.next = reply["next"]
    last.take(reply, depth)
    page.view.frames[frame] = last
    return reply


async def _stitched(page: Page, frame: Frame, before: dict[Frame, FrameView]) -> list[Node]:
    """The frame's nodes, and after each `iframe` those of its frame. The same list where there is none."""
    view = page.view.frames[frame]
    frames = [node for node in view.nodes if node.is_frame and node.ref]
    if not frames:
        return view.nodes
    inside: dict[str | None, list[Node]] = {}
    for node in frames:
        if len(page.view.frames) < MOST_FRAMES and (child := await _frame_in(view, frame, node.ref)):
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(FRAME_SECONDS):
                    await _pass(page, child, before.get(child), node.depth + 1)
            if child not in page.view.frames and (last := before.get(child)):
                page.view.frames[child] = last  # It gives no answer now; what it was is the best we know.
            if child in page.view.frames:
                inside[node.ref] = await _stitched(page, child, before)
    return [each for node in view.nodes for each in (node, *inside.get(node.ref, ()))]


async def _frame_in(view: FrameView, frame: Frame, ref: str | None) -> Frame | None:
    """The frame of an `iframe` element; known ones are not asked for again."""
    if ref is None:
        return None
    known = view.children.get(ref)
    if known is not None and not known.is_detached():
        return known
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(FRAME_SECONDS):
            if handle := await frame.query_selector(f"{ENGINE}={ref}"):
                if child := await handle.content_frame():
                    view.children[ref] = child
                await handle.dispose()
                return child
    return None


# Looks that are not remembered


async def _look_apart(page: Page, *, boxes: bool) -> Snapshot:
    main = page.playwright.main_frame
    reply = await _pass_apart(page, main, boxes=boxes)
    return Snapshot(reply["url"], reply["title"], await _stitched_apart(page, main, reply, 0, boxes))


async def _pass_apart(page: Page, frame: Frame, *, boxes: bool) -> dict[str, Any]:
    async with page.view.numbers.given() as next:
        reply = await ask(frame, _apart(next, boxes=boxes))
        page.view.numbers.next = reply["next"]
    return reply


def _apart(next: int, *, boxes: bool) -> dict[str, Any]:
    return {"what": "look", "next": next, "boxes": boxes}


async def _stitched_apart(
    page: Page, frame: Frame, reply: dict[str, Any], depth: int, boxes: bool
) -> list[Node]:
    nodes: list[Node] = []
    view = page.view.frames.setdefault(frame, FrameView())
    for record in reply["nodes"]:
        node = node_of(record, depth=depth)
        nodes.append(node)
        if node.is_frame and node.ref and (child := await _frame_in(view, frame, node.ref)):
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(FRAME_SECONDS):
                    inner = await _pass_apart(page, child, boxes=boxes)
                below = await _stitched_apart(page, child, inner, node.depth + 1, boxes)
                nodes += _moved(below, node) if boxes else below
    return nodes


def _moved(nodes: list[Node], frame: Node) -> list[Node]:
    """Boxes in the viewport of the frame above."""
    if frame.box is None:
        return nodes
    left, top = frame.box.x + frame.inside[0], frame.box.y + frame.inside[1]
    return [
        replace(node, box=node.box._replace(x=node.box.x + left, y=node.box.y + top)) if node.box else node
        for node in nodes
    ]


async def _frame_around(element: Locator) -> Frame:
    handle = await element.element_handle()
    frame = await handle.owner_frame()
    await handle.dispose()
    assert frame is not None
    return frame
