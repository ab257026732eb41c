"""Check that a press of the mouse, or a drop, reached the element that it was meant for (`press_check.js`).

Playwright checks which element is at the mouse's position, and not to which one the browser sends the press.
The two differ where an element moves away or collapses because the mouse came over it.
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

    from playwright.async_api import Locator, Playwright

    from footlight.browser.page.page import Page

__all__ = [
    "PRESS_TARGET",
    "PressOutcome",
    "find_press_target",
    "find_ready_point",
    "has_press_begun",
    "register_press_check",
    "take_outcome",
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
    """What became of a press or a drop.

    - `lost`: the press began on another element, and was kept from the page.
    - `strayed`: the press began on the element, but the click went to another one.
    - `ignored`: nothing in the page took the drop.

    `by` describes the element that was pressed instead.
    """

    state: Literal["arrived", "lost", "strayed", "ignored"]
    by: str = ""


async def register_press_check(playwright: Playwright) -> None:
    """Register the press check. Call this before any page is opened."""
    source = selector_engine(Path(__file__).parent, GETTER, "press_check")
    await playwright.selectors.register(_ENGINE, source, content_script=True)


def find_press_target(element: Locator) -> Locator:
    """Return the element, or for a checkbox that its label hides the part of the label that people press."""
    return element.locator(PRESS_TARGET)


def watch_press(element: Locator, ms: float) -> Locator:
    """Return the same target, whose next press is watched for so long once it is used.

    That takes no request to the page of its own.
    """
    return element.locator(f"{_ENGINE}=press-{ms:.0f}")


def watch_drop(element: Locator, ms: float) -> Locator:
    """Return the element, with the next drop onto it watched for so long once it is used."""
    return element.locator(f"{_ENGINE}=drop-{ms:.0f}")


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


async def find_ready_point(element: Locator, ms: float) -> tuple[float, float] | None:
    """Wait for an element, and return where to press it if Playwright would certainly press it at once.

    Its next press is then watched for so long. The point is in CSS pixels of the viewport. Playwright itself
    waits for two frames to see that an element does not move. Here, the settling script has seen that the
    document has not changed since it came to rest.
    """
    answer = await element.locator(f"{_ENGINE}=ready-{ms:.0f}").get_attribute("v", timeout=ms)
    found = json.loads(answer or "{}")
    return (found["x"], found["y"]) if "x" in found else None


async def _read_outcome(asking: Awaitable[str | None]) -> PressOutcome | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            outcome = json.loads(await asking or "null")
            return outcome and PressOutcome(outcome["state"], outcome.get("by") or "")
    return None
