"""Check that a press of the mouse, or a drop, reached the element that it was meant for (`press_check.js`).

Playwright checks which element is at the mouse's position, and not to which one the browser sends the press.
The two differ where an element moves away or collapses because the mouse is over it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import GETTER
from footlight.browser.page.settling import ask_and_watch
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from playwright.async_api import Locator, Playwright, Position

    from footlight.browser.page.page import Page

__all__ = [
    "NOT_READY",
    "PRESS_TARGET",
    "PressOutcome",
    "Readiness",
    "find_press_target",
    "find_readiness",
    "has_press_begun",
    "register_press_check",
    "take_outcome",
    "watch_drag",
    "watch_drop",
    "watch_press",
]

_ENGINE = "footlight-press"
_OUTCOME = f"{_ENGINE}=outcome"
PRESS_TARGET = f"{_ENGINE}=target"
"""The selector, from a field, of what people press: `find_press_target`."""
ANSWER_SECONDS = 0.25
"""How long a frame may take to answer. One that navigates or hangs has received the press."""
MAX_FRAMES = 10


class PressOutcome(NamedTuple):
    """The outcome of a press or a drop.

    - `lost`: the press began on another element, and was kept from the page.
    - `strayed`: the press began on the element, but the click went to another one.
    - `replaced`: at the press, the page put another element like it in its place, and no click followed.
    - `inside`: the press reached another control in the element.
    - `partial`: only some of its presses reached the element; `by` says how many.
    - `ignored`: nothing in the page took the drop.

    `by` describes the element that was pressed instead.
    """

    state: Literal["arrived", "lost", "strayed", "replaced", "inside", "partial", "ignored"]
    by: str = ""


async def register_press_check(playwright: Playwright) -> None:
    """Register the press check. Call this before any page is opened."""
    source = selector_engine(
        Path(__file__).parent, GETTER, "around", "press_places", "press_areas", "press_inside", "press_check"
    )
    await playwright.selectors.register(_ENGINE, source, content_script=True)


def find_press_target(element: Locator) -> Locator:
    """Return the element, or for a checkbox that its label hides the part of the label that people press."""
    return element.locator(PRESS_TARGET)


def watch_press(element: Locator, ms: float, count: int = 1) -> Locator:
    """Return the same target, whose next presses are watched for so long once it is used.

    That takes no request to the page of its own.
    """
    return element.locator(f"{_ENGINE}=press-{ms:.0f}-{count}")


def watch_drop(element: Locator, ms: float) -> Locator:
    """Return the element, with the next drop onto it watched for so long once it is used."""
    return element.locator(f"{_ENGINE}=drop-{ms:.0f}")


def watch_drag(element: Locator, ms: float) -> Locator:
    """Return the element, with the next drag that ends there watched for so long once it is used."""
    return element.locator(f"{_ENGINE}=drag-{ms:.0f}")


async def take_outcome(page: Page) -> PressOutcome:
    """Return what became of the press or drop that was watched, and end the watch."""
    if page.document_request is not None or page.closed:
        return PressOutcome("arrived")
    reply = await _read_outcome(ask_and_watch(page, _OUTCOME))
    if reply is None:
        main = page.playwright.main_frame
        inside = [frame for frame in page.playwright.frames if frame != main][:MAX_FRAMES]
        replies = (_read_outcome(frame.get_attribute(_OUTCOME, "v", timeout=0)) for frame in inside)
        reply = next(filter(None, await asyncio.gather(*replies)), None)
    return reply or PressOutcome("arrived")


async def has_press_begun(element: Locator, timeout_ms: float) -> bool:
    """Return whether the press has begun that is watched in the document of this element."""
    return await element.locator(f"{_ENGINE}=begun").get_attribute("v", timeout=timeout_ms) == "true"


class Readiness(NamedTuple):
    """Tells if Playwright would certainly press an element at once, and the point to press.

    `at` is relative to its padding box, where its middle belongs to another control in it; otherwise None.
    `point` is in CSS pixels of the viewport, where it is certain and the middle is pressed.
    """

    is_certain: bool
    at: Position | None = None
    point: tuple[float, float] | None = None


NOT_READY = Readiness(is_certain=False)


async def find_readiness(element: Locator, ms: float, count: int = 1) -> Readiness:
    """Wait for an element, and return how ready it is to be pressed.

    If that is certain, its next presses are watched for so long.

    Playwright itself waits for two frames to see that an element does not move. Here, the settling script has
    seen that the document has not changed since it came to rest.
    """
    answer = await element.locator(f"{_ENGINE}=ready-{ms:.0f}-{count}").get_attribute("v", timeout=ms)
    if not (reply := json.loads(answer or "null")):
        return NOT_READY
    point = reply["point"]
    return Readiness(reply["isCertain"], reply["at"], (point["x"], point["y"]) if point else None)


async def _read_outcome(asking: Awaitable[str | None]) -> PressOutcome | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            outcome = json.loads(await asking or "null")
            return outcome and PressOutcome(outcome["state"], outcome.get("by") or "")
    return None
