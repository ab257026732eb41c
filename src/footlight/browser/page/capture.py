"""Take snapshots of a page: one pass of the script in `scripts/snapshot/` over each frame, and one tree.

The script is a selector engine of Playwright. It runs in a world of its own that pages can neither see nor
change, and replies with an element made for the purpose, whose attribute holds the reply.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from footlight.browser.driver.offload import offload
from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.page_operations import limit_reading, retry_after_navigation
from footlight.browser.snapshot.nodes import Node, Snapshot, apply_operations, parse_node
from footlight.browser.snapshot.view import FrameView
from footlight.errors import InternalError
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator, Playwright

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "ENGINE",
    "FRAME_SECONDS",
    "MAX_FRAMES",
    "ask",
    "ask_about",
    "find_child_frame",
    "glance",
    "look",
    "register_engine",
    "snapshot_engine",
]

ENGINE = "footlight"
"""The selector engine: `footlight=e12` is an element, anything else a question."""

FRAME_SECONDS = 1.0
"""How long one frame may take. A frame that does not answer is shown without content."""
MAX_FRAMES = 100

_MODULES = (
    "platform",
    "memory",
    "pass",
    "modal",
    "flat_tree",
    "styles",
    "visibility",
    "roles",
    "tables",
    "native_roles",
    "names",
    "native_names",
    "states",
    "refs",
    "walk",
    "nodes",
    "lines",
    "changes",
    "test_ids",
    "answer",
)


@cache
def snapshot_engine() -> str:
    """Return the source of the selector engine that takes snapshots of a document and keeps its refs."""
    return selector_engine(Path(__file__).parent / "scripts" / "snapshot", *_MODULES)


async def register_engine(playwright: Playwright) -> None:
    """Register the snapshot script. Call this before any page is opened."""
    await playwright.selectors.register(ENGINE, snapshot_engine(), content_script=True)


async def look(page: Page, deadline: Deadline) -> Snapshot:
    """Return a snapshot of the whole page, and remember it in the page's view.

    Raises:
        FootlightError: the page does not answer, or is gone.
    """
    try:
        async with limit_reading(page, deadline):
            return await retry_after_navigation(lambda: _look(page))
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def glance(page: Page, seconds: float) -> Snapshot | None:
    """Return a snapshot of the whole page as `look` does, or None where it does not answer in time."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            return await retry_after_navigation(lambda: _look(page))
    return None


async def ask(frame: Frame, request: dict[str, Any]) -> Any:
    """Return the snapshot script's reply to a request about a frame's document."""
    return _read_reply(await frame.get_attribute(_selector_of(request), "v", timeout=0))


async def ask_about(element: Locator, request: dict[str, Any], *, timeout_ms: float) -> Any:
    """Return the snapshot script's reply to a request about an element. It is waited for."""
    return _read_reply(await element.locator(_selector_of(request)).get_attribute("v", timeout=timeout_ms))


def _selector_of(request: dict[str, Any]) -> str:
    return f"{ENGINE}={quote(json.dumps(request))}"


def _read_reply(reply: str | None) -> Any:
    value: Any = json.loads(reply or "null")
    if isinstance(value, dict) and (error := cast("dict[str, Any]", value).get("error")):
        raise InternalError(f"The page could not be read: {error}")
    return cast("Any", value)


async def _look(page: Page) -> Snapshot:
    view, main = page.view, page.playwright.main_frame
    before, view.frames = view.frames, {}
    try:
        reply = await _look_into(page, main, before.get(main), 0)
        nodes = await _join_frames(page, main, before)
    except BaseException:
        view.frames = before
        raise
    snapshot = Snapshot(reply["url"], reply["title"], nodes)
    await view.record_snapshot(snapshot)
    return snapshot


async def _look_into(page: Page, frame: Frame, before: FrameView | None, depth: int) -> dict[str, Any]:
    """Return the reply of one pass over a frame, whose content is `depth` levels deep in the page."""
    last = before if before and before.depth == depth else FrameView()
    async with page.view.numbers.reserve() as given:
        reply = await ask(frame, {"what": "look", "since": last.generation, **given})
        page.view.numbers.next = reply["next"]
    records = reply["ops"] if "ops" in reply else reply["nodes"]
    last.take(reply, await offload(len(records), lambda: _read_nodes(reply, last.nodes, depth)), depth)
    page.view.frames[frame] = last
    return reply


def _read_nodes(reply: dict[str, Any], before: Sequence[Node], depth: int) -> list[Node]:
    if "ops" in reply:
        return apply_operations(before, reply["ops"], depth=depth)
    return [parse_node(record, depth=depth) for record in reply["nodes"]]


async def _join_frames(page: Page, frame: Frame, before: dict[Frame, FrameView]) -> list[Node]:
    """Return the frame's nodes, with those of inner frames after their `iframe`.

    That is the same list where there is no inner frame.
    """
    view = page.view.frames[frame]
    frames = [node for node in view.nodes if node.is_frame and node.ref]
    if not frames:
        return view.nodes
    inside: dict[str | None, list[Node]] = {}
    for node in frames:
        if len(page.view.frames) < MAX_FRAMES and (child := await find_child_frame(view, frame, node.ref)):
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(FRAME_SECONDS):
                    await _look_into(page, child, before.get(child), node.depth + 1)
            if child not in page.view.frames and (last := before.get(child)):
                page.view.frames[child] = last  # Its last view is the best that is known.
            if child in page.view.frames:
                inside[node.ref] = await _join_frames(page, child, before)
    return [each for node in view.nodes for each in (node, *inside.get(node.ref, ()))]


async def find_child_frame(view: FrameView, frame: Frame, ref: str | None) -> Frame | None:
    """Return the frame of an `iframe` element, or None. The view remembers frames that were found."""
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
