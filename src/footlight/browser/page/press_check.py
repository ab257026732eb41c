"""Check that a press of the mouse, or a drop, reached the intended element (`press_check.js`).

Playwright checks which element is at the mouse position, but not which element receives the press. The two
differ if an element moves away or collapses because the mouse is over it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import GETTER
from footlight.browser.page.refs import ask_directly
from footlight.browser.page.settling import ask_and_watch
from footlight.javascript import run_once, selector_engine

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from playwright.async_api import Locator, Playwright, Position

    from footlight.browser.page.page import Page

__all__ = [
    "NOT_READY",
    "PRESS_PLACES",
    "PRESS_TARGET",
    "PressOutcome",
    "Readiness",
    "find_press_target",
    "find_readiness",
    "has_press_begun",
    "is_button_held",
    "press_engine",
    "register_press_check",
    "take_outcome",
    "watch_drag",
    "watch_drop",
    "watch_press",
]

_ENGINE = "footlight-press"
_OUTCOME = f"{_ENGINE}=outcome"
PRESS_PLACES = str(Path(__file__).with_name("press_places"))
"""The module `press_places.js`, for what a press at a point hits. It follows `GETTER`."""
PRESS_TARGET = f"{_ENGINE}=target"
"""The selector, relative to a field, for `find_press_target`."""
ANSWER_SECONDS = 0.25
"""How long a frame may take to reply. A frame that navigates or hangs has received the press."""
MAX_FRAMES = 10


class PressOutcome(NamedTuple):
    """The outcome of a press or a drop.

    - `lost`: the press began on another element, and was kept from the page.
    - `strayed`: the press began on the element, but the click went to another one.
    - `replaced`: the page replaced the element by a similar one during the press, and no click followed.
    - `inside`: the press reached another control in the element.
    - `partial`: only some of the presses reached the element; `by` has their number.
    - `ignored`: nothing in the page accepted the drop.

    Otherwise `by` describes the element that was pressed instead.
    """

    state: Literal["arrived", "lost", "strayed", "replaced", "inside", "partial", "ignored"]
    by: str = ""


@cache
def press_engine() -> str:
    """Return the source of the selector engine that watches presses and drops."""
    modules = ("around", "press_places", "press_areas", "press_inside", "press_target", "press_doubt")
    source = selector_engine(Path(__file__).parent, GETTER, *modules, "press_check")
    return run_once("press", source)


async def register_press_check(playwright: Playwright) -> None:
    """Register the press check. Call this before any page is opened."""
    await playwright.selectors.register(_ENGINE, press_engine(), content_script=True)


def find_press_target(element: Locator) -> Locator:
    """Return the element, or the part to press if it is a field that its label or its drawing hides."""
    return element.locator(PRESS_TARGET)


def watch_press(element: Locator, ms: float, count: int = 1) -> Locator:
    """Return the same target. When it is used, its next presses are watched for `ms`.

    This takes no additional request to the page.
    """
    return element.locator(f"{_ENGINE}=press-{ms:.0f}-{count}")


def watch_drop(element: Locator, ms: float) -> Locator:
    """Return the element. When it is used, the next drop onto it is watched for `ms`."""
    return element.locator(f"{_ENGINE}=drop-{ms:.0f}")


def watch_drag(element: Locator, ms: float) -> Locator:
    """Return the element. When it is used, the next drag that ends on it is watched for `ms`."""
    return element.locator(f"{_ENGINE}=drag-{ms:.0f}")


async def take_outcome(page: Page) -> PressOutcome:
    """Return the outcome of the watched press or drop, and end the watch."""
    if page.document_request is not None or page.closed:
        return PressOutcome("arrived")
    reply = await _read_outcome(ask_and_watch(page, _OUTCOME, "outcome"))
    if reply is None:
        main = page.playwright.main_frame
        inside = [frame for frame in page.playwright.frames if frame != main][:MAX_FRAMES]
        replies = (_read_outcome(frame.get_attribute(_OUTCOME, "v", timeout=0)) for frame in inside)
        reply = next(filter(None, await asyncio.gather(*replies)), None)
    return reply or PressOutcome("arrived")


async def has_press_begun(element: Locator, timeout_ms: float) -> bool:
    """Return whether the watched press has begun in the document of this element."""
    return await element.locator(f"{_ENGINE}=begun").get_attribute("v", timeout=timeout_ms) == "true"


async def is_button_held(page: Page) -> bool:
    """Return whether the main document has received a press and not yet its release. Chromium only."""
    with contextlib.suppress(Error):
        return bool(await page.scripts.ask(press_engine, "isButtonHeld"))
    return False


class Readiness(NamedTuple):
    """Whether Playwright would certainly press an element at once, and the point to press.

    `at` is a point in its padding box if its middle belongs to another control inside it, otherwise None.
    `point` is in CSS pixels of the viewport, set if the press is certain and in the middle.
    """

    is_certain: bool
    at: Position | None = None
    point: tuple[float, float] | None = None


NOT_READY = Readiness(is_certain=False)


async def find_readiness(page: Page, selector: str, element: Locator, ms: float, count: int) -> Readiness:
    """Wait for the element of a selector, and return whether it is ready to be pressed.

    If that is certain, its next `count` presses are watched for `ms`.

    Playwright itself waits two frames to check that an element does not move. Here the settling script has
    already checked that the document has not changed since it settled.
    """
    reply = await ask_directly(page, selector, press_engine, "ready", ms, count)
    if reply is None:
        answer = await element.locator(f"{_ENGINE}=ready-{ms:.0f}-{count}").get_attribute("v", timeout=ms)
        reply = json.loads(answer or "null")
    if not reply:
        return NOT_READY
    point = reply["point"]
    return Readiness(reply["isCertain"], reply["at"], (point["x"], point["y"]) if point else None)


async def _read_outcome(asking: Awaitable[str | None]) -> PressOutcome | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            outcome = json.loads(await asking or "null")
            return outcome and PressOutcome(outcome["state"], outcome.get("by") or "")
    return None
