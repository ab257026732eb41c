"""Take snapshots of a page: the script in `scripts/snapshot/` reads each frame, and the results are joined.

The script is a selector engine of Playwright. It runs in an isolated world that pages can neither read nor
change. Its reply is the attribute of an element that it creates.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from footlight.browser.driver.offload import offload
from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import GETTER, TYPED_TEXT
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.page_operations import limit_reading, retry_after_navigation
from footlight.browser.snapshot.nodes import Node, Snapshot, apply_operations, parse_node
from footlight.browser.snapshot.view import FrameView
from footlight.errors import InternalError
from footlight.javascript import run_once, selector_engine
from footlight.safe_text import load_json

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator, Playwright

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "EARLIER",
    "ENGINE",
    "FRAMES_SECONDS",
    "FRAME_SECONDS",
    "LEFT_OUT",
    "MAX_FRAMES",
    "EarlyLook",
    "FrameJoiner",
    "ask",
    "ask_about",
    "ask_in",
    "glance",
    "look",
    "read_nodes",
    "register_engine",
    "snapshot_engine",
]

ENGINE = "footlight"
"""The selector engine: `footlight=e12` finds an element, any other body is a request."""

FRAME_SECONDS = 1.0
"""How long one frame may take. A frame that does not respond is shown as it was, or without content."""
FRAMES_SECONDS = 10.0
"""How long all inner frames may take. The frames that remain are shown without content."""
FRAMES_AT_ONCE = 5
EARLY_SECONDS = 0.02
"""How long after an early look a snapshot may use it."""
MAX_FRAMES = 100
MAX_INNER_NODES = 100_000
"""The number of nodes in all inner frames after which no further frame is read."""
LEFT_OUT = "… the content is left out: the frame did not respond in time"
EARLIER = "… the content is that of an earlier look: the frame did not respond in time"

_MODULES = (
    "reads",
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
    "hints",
    "nodes",
    "lines",
    "changes",
    "test_ids",
    "paths",
    "answer",
)


@cache
def snapshot_engine() -> str:
    """Return the source of the selector engine that takes snapshots of a document and stores its refs."""
    source = selector_engine(Path(__file__).parent / "scripts" / "snapshot", GETTER, TYPED_TEXT, *_MODULES)
    return run_once("snapshot", source)


async def register_engine(playwright: Playwright) -> None:
    """Register the snapshot script. Call this before any page is opened."""
    await playwright.selectors.register(ENGINE, snapshot_engine(), content_script=True)


async def look(page: Page, deadline: Deadline) -> Snapshot:
    """Return a snapshot of the whole page, and store it in the page's view.

    Raises:
        FootlightError: the page does not respond, or is gone.
    """
    try:
        async with limit_reading(page, deadline):
            return await retry_after_navigation(lambda: _look(page, FRAMES_SECONDS))
    except Error as error:
        raise await explain_page_failure(page, error) from error


class EarlyLook:
    """Reads the main document in the request that waits until it has settled, which saves a request.

    The result is used only for a snapshot that is taken at once afterwards. If the wait is cancelled, the
    document is not read any more after the next request.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._reply: dict[str, Any] | None = None
        self._at = 0.0

    async def read(self, ask: Callable[[str], Awaitable[str | None]]) -> None:
        """Read the document. `ask` returns the reply of the snapshot script to a request, if there is one."""
        main = self._page.playwright.main_frame
        self._reply = None

        async def ask_script(request: dict[str, Any]) -> Any:
            if reply := await ask(json.dumps(request)):
                return _read_reply(reply)
            raise LookupError

        with contextlib.suppress(LookupError):
            self._reply = await _look_into(self._page, main, self._page.view.frames.get(main), 0, ask_script)
            self._at = time.monotonic()

    def find_reply(self) -> dict[str, Any] | None:
        """Return the reply if the document was read just now, and by no other request since."""
        view = self._page.view.frames.get(self._page.playwright.main_frame)
        is_last = view is not None and self._reply is not None and view.generation == self._reply["gen"]
        is_new = self._page.navigated_at < self._at and time.monotonic() - self._at < EARLY_SECONDS
        return self._reply if is_last and is_new and self._page.scripts.is_known else None


async def glance(page: Page, seconds: float, early: EarlyLook | None = None) -> Snapshot | None:
    """Return a snapshot of the whole page as `look` does, or None if the page does not respond in time."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            return await retry_after_navigation(lambda: _look(page, seconds / 2, early))
    return None


async def ask(frame: Frame, request: dict[str, Any]) -> Any:
    """Return the snapshot script's reply to a request about a frame's document."""
    return _read_reply(await frame.get_attribute(_selector_of(request), "v", timeout=0))


async def ask_in(page: Page, frame: Frame, request: dict[str, Any]) -> Any:
    """Return the reply about a frame's document as `ask` does, with a single CDP message if possible."""
    if frame == page.playwright.main_frame:
        with contextlib.suppress(Error):
            reply = await page.scripts.ask(snapshot_engine, "snapshot", json.dumps(request))
            if reply is not None:
                return _read_reply(reply)
    return await ask(frame, request)


async def ask_about(element: Locator, request: dict[str, Any], *, timeout_ms: float) -> Any:
    """Wait for the element, and return the snapshot script's reply to a request about it."""
    return _read_reply(await element.locator(_selector_of(request)).get_attribute("v", timeout=timeout_ms))


def _selector_of(request: dict[str, Any]) -> str:
    return f"{ENGINE}={quote(json.dumps(request))}"


def _read_reply(reply: str | None) -> Any:
    value = load_json(reply or "null")
    if isinstance(value, dict) and (error := cast("dict[str, Any]", value).get("error")):
        raise InternalError(f"The page could not be read: {error}")
    return cast("Any", value)


async def _look(page: Page, frames_seconds: float, early: EarlyLook | None = None) -> Snapshot:
    reply = early.find_reply() if early else None
    view, main = page.view, page.playwright.main_frame
    before, view.frames = view.frames, {}

    async def read(frame: Frame, depth: int) -> Sequence[Node] | None:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(FRAME_SECONDS):
                await _look_into(page, frame, before.get(frame), depth)
        if frame not in view.frames and (last := before.get(frame)):
            view.frames[frame] = last  # Its last view is the best one available.
            return [Node(depth, "text", EARLIER), *last.nodes]
        return view.frames[frame].nodes if frame in view.frames else None

    try:
        if reply:
            view.frames[main] = before[main]
        else:
            reply = await _look_into(page, main, before.get(main), 0)
        document = view.frames[main].document
        joiner = FrameJoiner(page, read, before, time.monotonic() + frames_seconds)
        nodes = await joiner.join(main, view.frames[main].nodes)
    except BaseException:
        view.frames = before
        raise
    snapshot = Snapshot(reply["url"], reply["title"], nodes, document)
    await view.record_snapshot(snapshot)
    return snapshot


async def _look_into(
    page: Page,
    frame: Frame,
    before: FrameView | None,
    depth: int,
    ask: Callable[[dict[str, Any]], Awaitable[Any]] | None = None,
) -> dict[str, Any]:
    """Read a frame once, and return the reply. Its content is `depth` levels deep in the page."""
    last = before if before and before.depth == depth else FrameView()
    async with page.view.numbers.reserve() as ref_numbers:
        request = {"what": "look", "since": last.generation, **ref_numbers}
        reply = await (ask(request) if ask else ask_in(page, frame, request))
        page.view.numbers.next = reply["next"]
    last.take(reply, await read_nodes(reply, last.nodes, depth), depth)
    if "nodes" in reply:
        page.view.documents += 1
        last.document = page.view.documents
    page.view.frames[frame] = last
    return reply


async def read_nodes(reply: dict[str, Any], before: Sequence[Node], depth: int) -> Sequence[Node]:
    """Return the nodes of a reply, moved `depth` levels down. `before` are the nodes of the previous pass."""

    def read() -> Sequence[Node]:
        if "ops" in reply:
            return apply_operations(before, reply["ops"], depth=depth)
        return [parse_node(record, depth=depth) for record in reply["nodes"]]

    return await offload(len(reply["ops"] if "ops" in reply else reply["nodes"]), read)


@dataclass(slots=True)
class FrameJoiner:
    """Joins the nodes of a page's frames to one tree, within the limits of one snapshot.

    `read` returns the nodes of a frame at a depth, or None if it does not respond. Frames that are not in
    `known` are prepared first, several at a time: the first request to a frame takes longest.
    """

    page: Page
    read: Callable[[Frame, int], Awaitable[Sequence[Node] | None]]
    known: Container[Frame]
    expires: float
    frames_left: int = MAX_FRAMES - 1
    nodes_left: int = MAX_INNER_NODES

    async def join(self, frame: Frame, nodes: Sequence[Node]) -> Sequence[Node]:
        """Return the frame's nodes, with the nodes of each inner frame after its `iframe`.

        Return the same list if there are no inner frames.
        """
        elements = [node for node in nodes if node.is_frame and node.ref]
        if not elements:
            return nodes
        inside: dict[str | None, Sequence[Node]] = {}
        children: Sequence[Frame | TimeoutError | None] = ()
        for at, node in enumerate(elements):
            if reason := self._find_limit():
                left = f"{len(elements) - at:,} frames from here on are left out: {reason}"
                inside[node.ref] = [Node(node.depth + 1, "text", f"… {left}")]
                break
            if at % FRAMES_AT_ONCE == 0:
                batch = elements[at : at + FRAMES_AT_ONCE]
                children = await asyncio.gather(*(self._prepare(frame, each.ref) for each in batch))
            child = children[at % FRAMES_AT_ONCE]
            if isinstance(child, TimeoutError):
                inside[node.ref] = [Node(node.depth + 1, "text", LEFT_OUT)]
            elif child is not None:
                inside[node.ref] = await self._read_inside(node, child)
        return [each for node in nodes for each in (node, *inside.get(node.ref, ()))]

    def _find_limit(self) -> str | None:
        """Return the limit that this snapshot has reached, or None."""
        if self.frames_left <= 0:
            return f"a snapshot has at most {MAX_FRAMES} frames"
        if self.nodes_left <= 0:
            return f"those before have more than {MAX_INNER_NODES:,} nodes"
        return "those before took too long" if time.monotonic() > self.expires else None

    async def _prepare(self, frame: Frame, ref: str | None) -> Frame | TimeoutError | None:
        """Return the frame of an `iframe` element after a first request to it, or why it is unknown."""
        view = self.page.view.frames.setdefault(frame, FrameView())
        try:
            child = await _find_child_frame(view, frame, ref)
        except TimeoutError as error:
            return error
        if child is not None and child not in self.known:
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(FRAME_SECONDS):
                    await ask(child, {"what": "frame"})
        return child

    async def _read_inside(self, element: Node, frame: Frame) -> Sequence[Node]:
        self.frames_left -= 1
        own = await self.read(frame, element.depth + 1)
        if own is None:
            return () if frame.is_detached() else [Node(element.depth + 1, "text", LEFT_OUT)]
        self.nodes_left -= len(own)
        nodes = await self.join(frame, own)
        return nodes if element.box is None else await offload(len(nodes), lambda: _move(nodes, element))


def _move(nodes: Sequence[Node], frame: Node) -> Sequence[Node]:
    """Return the nodes with their boxes in the viewport of the parent frame."""
    if frame.box is None:
        return nodes
    left, top = frame.box.x + frame.inside[0], frame.box.y + frame.inside[1]
    return [
        replace(node, box=node.box._replace(x=node.box.x + left, y=node.box.y + top)) if node.box else node
        for node in nodes
    ]


async def _find_child_frame(view: FrameView, frame: Frame, ref: str | None) -> Frame | None:
    """Return the frame of an `iframe` element, or None. The view caches frames that were found.

    Raises:
        TimeoutError: the page does not respond.
    """
    if ref is None:
        return None
    known = view.children.get(ref)
    if known is not None and not known.is_detached():
        return known
    with contextlib.suppress(Error):
        async with asyncio.timeout(FRAME_SECONDS):
            if handle := await frame.query_selector(f"{ENGINE}={ref}"):
                if child := await handle.content_frame():
                    view.children[ref] = child
                await handle.dispose()
                return child
    return None
