"""Wait until the effects of an action have ended, and no longer.

The effects are a navigation, the requests that the page has sent since the action, and changes of the
document. A document is settled when it has drawn two frames without a change, or one after which nothing can
follow.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import GETTER
from footlight.javascript import run_once, selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Frame, Playwright

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "LATE_RECORD_MS",
    "LATE_SECONDS",
    "ActRecord",
    "ask_and_watch",
    "has_scrolled",
    "read_records",
    "register_settling",
    "settle",
    "watch_new_documents",
    "watch_next_document",
]

_ENGINE = "footlight-settle"

ReadDocument = Callable[[Callable[[str], Awaitable[str | None]]], Awaitable[None]]
"""Reads a document with a function that returns the reply of the snapshot script to a request."""

WATCH_SECONDS = 0.1
"""A watch that began at most this long ago is continued instead of started again."""
FIRST_MS = 5_000.0
"""How long a new document may take to run the scripts. A slower one is watched only from `settle` on."""
LATE_SECONDS = {"upload": 0.5, "suggestions": 0.5, "submenu": 0.4, "tooltip": 0.7, "timer": 1.0, "work": 2.0}
"""How long to wait for work that an action may have started and whose effect shows late (`late_work.js`).

`timer`: a click has had no effect so far, and a script of the page has requested a callback.
"""
_HOVER_TYPES = frozenset(
    f"{device}{kind}" for device in ("mouse", "pointer") for kind in ("over", "enter", "move")
)
LATE_TYPES = {
    "upload": frozenset({"change", "drop", "input"}),
    "suggestions": frozenset(
        {"beforeinput", "change", "compositionend", "focus", "focusin", "input", "keydown", "keypress"}
        | {"keyup", "search", "selectionchange", "textInput"}
    ),
    "submenu": _HOVER_TYPES,
    "tooltip": _HOVER_TYPES,
}
"""The types of the events that start such work. Where no script of the page listens for one, none follows."""
REPLY_SECONDS = 0.5
"""How long to wait for the reply to a message that an action has sent by a WebSocket."""
MAX_FRAMES = 10
RECORD_MS = 3_000.0
"""How long documents may take to reply with the records of an action that seems to have had no effect."""
LATE_RECORD_MS = 500.0
"""How long they may take if the page has not settled in time."""
FRAME_MS = 250.0
"""How long an inner frame may take for one reply. A frame that hangs is not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActRecord:
    """A record of how one document handled the input events of an action (`scripts/effects`)."""

    id: int
    by: str
    """The type of its first event."""
    acted: bool
    """Whether the action certainly had an effect."""
    stale: bool
    """Whether the document changed before the action, or changes all the time."""
    hovered: bool = False
    """The document changed when the mouse moved to the pressed element."""
    later: bool = False
    """The only effect are changes after the click. If nothing listens there, they have another cause."""
    kind: str | None = None
    """The kind of `reason`: `blocked`, `kept`, `idle`, `taken` and `undone` explain why the action had no
    effect, `nowhere` why a link led nowhere. `taken` means that the page prevented the default action of the
    browser. `lost` and `part` also apply if the action had an effect, and `refused` if no request was sent.
    """
    reason: str | None = None
    drawn: bool = False
    """Whether a canvas was clicked. The document does not show what is drawn on it."""
    path: tuple[int | str, ...] | None = None
    """The path from the document `root` to the element that was clicked or received a key, if no effect is
    certain (`element_path.js`).
    """
    root: Frame | None = None
    """None for the top document, otherwise a frame whose document has another origin."""
    point: tuple[float, float] | None = None
    """The point that the mouse or a key clicked, in CSS pixels of the document's viewport."""
    types: tuple[str, ...] = ()
    """The types of the events that happened at `point`."""
    key: dict[str, Any] | None = None
    """The fields of the event of the last key."""
    is_main: bool = False


@cache
def settling_engine() -> str:
    """Return the source of the selector engine that watches documents and records the effects of input."""
    source = selector_engine(
        Path(__file__).parent,
        GETTER,
        "around",
        "element_path",
        "callbacks",
        "settling",
        "scrolling",
        "scripts/effects/fields",
        "scripts/effects/undone",
        "scripts/effects/problems",
        "scripts/effects/act_record",
        "scripts/effects/effects",
        "late_work",
    )
    return run_once("settling", source)


async def register_settling(playwright: Playwright) -> None:
    """Register the settling script. Call this before any page is opened."""
    await playwright.selectors.register(_ENGINE, settling_engine(), content_script=True)


async def ask_and_watch(page: Page, selector: str, name: str) -> str:
    """Return another engine's reply about the main document, and begin to watch it in the same request.

    The engine gives the same reply to `selector`, and as the function `Symbol.for("footlight.NAME")`.
    """
    reply: str | None = None
    if page.scripts.is_known:
        ask, watch = (f'globalThis[Symbol.for("footlight.{each}")]?.()' for each in (name, "watch"))
        with suppress(Error):
            reply = (await page.scripts.run(f"[{ask}, {watch}][0]"))["result"].get("value")
    if reply is None:
        text = await page.playwright.main_frame.get_attribute(
            f"{selector} >> {_ENGINE}=begin", "v", timeout=0
        )
        reply = (text or "").partition(" ")[2]
    page.watched_for_rest_at = time.monotonic()
    return reply


async def watch_next_document(page: Page) -> None:
    """Begin to watch the next main document while it loads, unless `watch_new_documents` has done so."""
    await page.committed.wait()
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(FIRST_MS / 1000):
            is_known = await page.scripts.wait_for_document()
            if is_known and page.scripts.began_at:
                page.watched_for_rest_at = page.scripts.began_at
                return
            if not is_known or await _ask(page, "watch") is None:
                await page.playwright.main_frame.get_attribute(f"{_ENGINE}=begin", "v", timeout=FIRST_MS)
        page.watched_for_rest_at = time.monotonic()


async def watch_new_documents(page: Page) -> None:
    """Watch each new main document as soon as it is parsed. Chromium only.

    A request that is sent when it has loaded would often arrive after its first frame.
    """
    with suppress(Error):
        await page.scripts.install(settling_engine, "watchNew")


async def _ask(page: Page, name: str, *arguments: Any) -> Any:
    return await page.scripts.ask(settling_engine, name, *arguments)


async def settle(
    page: Page, since: float, deadline: Deadline, *, limit_ms: float, read: ReadDocument | None = None
) -> list[ActRecord] | None:
    """Wait until everything that began since `since` (`time.monotonic()`) has ended, at most `limit_ms`.

    A page that is closed, has crashed or hangs counts as settled. Return the records of the last action in
    the page's documents, or None if the limit was reached. `read` reads the document when it is settled.
    """
    limit_ms = min(max(1.0, limit_ms), deadline.remaining_ms)
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_ms / 1000):
            return await _settle(page, since, limit_ms, read)
    return None


async def read_records(page: Page, limit_ms: float = RECORD_MS) -> list[ActRecord]:
    """Return the records of the last action in the documents of a page, without waiting until it settles."""
    main = page.playwright.main_frame

    async def read(frame: Frame) -> ActRecord | None:
        with suppress(Error):
            reply = await frame.get_attribute(f"{_ENGINE}=record", "v", timeout=limit_ms)
            return _parse_record((reply or "").partition(" ")[2], frame, is_main=frame == main)
        return None

    with suppress(TimeoutError):
        async with asyncio.timeout(limit_ms / 1000):
            frames = [main, *(each for each in page.playwright.frames if each != main)][: MAX_FRAMES + 1]
            return [each for each in await asyncio.gather(*map(read, frames)) if each]
    return []


async def has_scrolled(page: Page) -> bool:
    """Return whether the main document has scrolled after an action that seemed to have no effect."""
    with suppress(Error, TimeoutError):
        if page.scripts.is_known:
            async with asyncio.timeout(RECORD_MS / 1000):
                return bool(await _ask(page, "hasScrolled"))
    return False


def _parse_record(text: str, frame: Frame, *, is_main: bool) -> ActRecord | None:
    if not text:
        return None
    fields: dict[str, Any] = json.loads(text)
    root = frame if "above" in fields else None
    for _ in range(fields.get("above", 0)):
        root = root and root.parent_frame
    return ActRecord(
        id=fields["id"],
        by=fields["by"],
        acted=fields["acted"],
        stale=fields["stale"],
        hovered=fields["hovered"],
        later=fields.get("later", False),
        kind=fields.get("kind"),
        reason=fields.get("reason"),
        drawn=fields.get("drawn", False),
        path=tuple(fields["path"]) if "path" in fields else None,
        root=root,
        point=(fields["x"], fields["y"]) if "x" in fields else None,
        types=tuple(fields.get("types", ())),
        key=fields.get("key"),
        is_main=is_main,
    )


@dataclass(frozen=True, slots=True)
class _SettledReport:
    """A document's report of the last action, made when the document is settled."""

    record: ActRecord | None
    late: str | None = None
    """The kind of work that the action may have started and that does not show yet.

    Only in the main frame.
    """


async def _settle(page: Page, since: float, limit_ms: float, read: ReadDocument | None) -> list[ActRecord]:
    traffic = page.traffic
    records: list[ActRecord] = []
    is_patient = awaits_reply = True
    while True:
        await traffic.wait_until_idle(since)
        if page.closed or page.crashed:
            return records
        request_count = traffic.request_count
        documents = await _wait_for_still_frames(page, limit_ms, read)
        records = [each.record for each in documents if each.record]
        late = next((each.late for each in documents if each.late), None)
        if traffic.request_count == request_count and traffic.is_idle(since):
            if awaits_reply and traffic.is_reply_expected(since):
                awaits_reply = False
                with suppress(TimeoutError):
                    async with asyncio.timeout(REPLY_SECONDS):
                        await traffic.wait_for_reply(since)
                continue
            if not late or not is_patient:
                return records
            is_patient = False
            if not await _wait_for_late_work(page, late, since):
                return records


async def _wait_for_late_work(page: Page, kind: str, since: float) -> bool:
    """Wait until the page has sent a request, or until it changes, except for an upload.

    If the page reports work in progress, wait until that work ends. Requests since `since` count only if they
    may be what was expected. A timer and a movement of the mouse may lead to a further request.
    Return False at once if no script of the page listens for the event that starts such work.
    """
    seconds = LATE_SECONDS[kind]
    waits: list[asyncio.Task[None]] = []
    if kind != "work":
        since = since if kind in ("upload", "suggestions") else time.monotonic()
        waits.append(asyncio.create_task(page.traffic.wait_for_request(since)))
    if kind != "upload" and page.scripts.is_known:
        ends = "work" if kind == "work" else "change"
        waits.append(asyncio.create_task(_wait_in_page(page, ends, seconds)))
    if not waits:
        return True
    silent = asyncio.create_task(_return_if_nothing_listens(page, LATE_TYPES.get(kind)))
    waits.append(silent)
    try:
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return done != {silent}
    finally:
        for each in waits:
            each.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def _return_if_nothing_listens(page: Page, types: Collection[str] | None) -> None:
    """Return when it is known that no script of the page gets the event. Otherwise wait until cancelled."""
    with suppress(Error, KeyError):
        if types and not await page.scripts.may_have_listener("eventPath", types):
            return
    await asyncio.Event().wait()


async def _wait_in_page(page: Page, what: str, seconds: float) -> None:
    with suppress(Error):
        await _ask(page, what, seconds * 1000)


async def _wait_for_still_frames(
    page: Page, limit_ms: float, read: ReadDocument | None
) -> list[_SettledReport]:
    main = page.playwright.main_frame
    inside = [frame for frame in page.playwright.frames if frame != main][:MAX_FRAMES]
    is_watched = time.monotonic() - page.watched_for_rest_at < WATCH_SECONDS
    page.watched_for_rest_at = 0.0
    return await asyncio.gather(
        _wait_for_still_document(page, read, timeout=limit_ms, is_watched=is_watched),
        *(_wait_for_still_frame(frame, timeout=FRAME_MS) for frame in inside),
    )


async def _wait_for_still_document(
    page: Page, read: ReadDocument | None, timeout: float, *, is_watched: bool
) -> _SettledReport:
    """Wait until the main document is settled.

    In Chromium the page itself waits, without further requests.
    """
    main = page.playwright.main_frame
    is_alone = len(page.playwright.frames) == 1 and not page.traffic.has_channels
    reply: dict[str, Any] | None = None

    async def ask(request: str | None = None) -> str | None:
        nonlocal reply
        reply = await _ask(page, "settle", is_watched, is_alone, request)
        return reply["look"] if reply else None

    with suppress(Error):
        await (read(ask) if read and is_alone else ask())
        if reply is not None:
            return _SettledReport(_parse_record(reply["record"], main, is_main=True), reply["late"])
    return await _wait_for_still_frame(main, timeout=timeout, is_watched=is_watched, is_main=True)


async def _wait_for_still_frame(
    frame: Frame, timeout: float, *, is_watched: bool = False, is_main: bool = False
) -> _SettledReport:
    """Wait until the frame's document is settled or gone, or a reply takes longer than `timeout`."""
    body = "go-on" if is_watched else "begin"
    with suppress(Error):
        while True:
            reply = await frame.get_attribute(f"{_ENGINE}={body}", "v", timeout=timeout)
            wait, _, record = (reply or "0").partition(" ")
            if not float(wait):
                return _SettledReport(_parse_record(record, frame, is_main=is_main))
            await asyncio.sleep(float(wait) / 1000)
            body = "go-on"
    return _SettledReport(None)
