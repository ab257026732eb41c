"""Move sliders that pages draw themselves, by their keys."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from footlight.browser.driver.scripts import run_about
from footlight.errors import ElementNotInteractiveError, InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline

__all__ = ["fill_range", "is_slider", "move_slider"]

MAX_ROUNDS = 6
MAX_PRESSES = 1_000
REDRAW_SECONDS = 0.4
"""How long to wait for a value to change. A slider that has reached a limit does not change."""
FRAME_SECONDS = 0.02

_READ, _BESIDE = (
    page_function(Path(__file__).parent, ["slider"], name) for name in ("readSlider", "findBeside")
)


async def is_slider(element: Locator, timeout_ms: float) -> bool:
    return await run_about(element, _READ, timeout_ms=timeout_ms) is not None


async def move_slider(element: Locator, selector: str, value: str, deadline: Deadline) -> str | None:
    """Press arrow keys until a slider has this value. Return a notice if it stops at another one.

    The first press shows its step and direction; each further round presses as often as these require.

    Raises:
        InvalidParameterError: the value is not a number between the limits of the slider.
        ElementNotInteractiveError: the keys do not move it.
    """
    slider = await run_about(element, _READ, timeout_ms=deadline.remaining_ms)
    target = _parse_number(value)
    if target is None or not slider["min"] <= target <= slider["max"]:
        expected = f"a number from {slider['min']} to {slider['max']}"
        raise InvalidParameterError(
            f'value: "{selector}" is a slider; it takes {expected}', parameter="value"
        )
    now: float = slider["now"]
    takes_keys = element.locator("css=[tabindex='0']").first if slider["isInside"] else element
    keys, count, step = ("ArrowRight", "ArrowLeft"), 1, 0.0
    is_limit = target in (slider["min"], slider["max"])
    for _ in range(MAX_ROUNDS):
        if now == target:
            return None
        for _ in range(min(count, MAX_PRESSES)):
            await takes_keys.press(keys[0 if target > now else 1], timeout=deadline.remaining_ms)
        before, now = now, await _read_settled(element, now, deadline)
        if now == before:
            break
        step = abs(now - before) / count
        if abs(target - now) > abs(target - before) and count == 1:
            keys = keys[::-1]
        if abs(target - now) < step and not is_limit:
            break
        count = max(1, round(abs(target - now) / step))
    if not step:
        raise ElementNotInteractiveError(
            f'"{selector}" is a slider that the arrow keys do not move',
            suggestion="Drag it with mouse_drag (group vision).",
            selector=selector,
        )
    return None if now == target else f"the slider stops at {now:g}; one press of a key moves it by {step:g}"


async def fill_range(element: Locator, value: str, timeout_ms: float) -> bool:
    """Fill an `input` of a slider that the page draws itself. Return False for any other element.

    Libraries use a new value only after a key or a press of the mouse, so the last step is that of a key.
    """
    beside = await run_about(element, _BESIDE, value, timeout_ms=timeout_ms)
    if beside is not None:
        await element.fill(beside["value"], timeout=timeout_ms)
        await element.press(beside["key"], timeout=timeout_ms)
    return beside is not None


async def _read_settled(element: Locator, before: float, deadline: Deadline) -> float:
    """Return the value after some presses. Many sliders are drawn anew later, press by press."""
    now, until = before, time.monotonic() + REDRAW_SECONDS
    while time.monotonic() < until:
        last, slider = now, await run_about(element, _READ, timeout_ms=deadline.remaining_ms)
        if slider is None:
            break
        now = slider["now"]
        if now == last != before:
            break
        await asyncio.sleep(FRAME_SECONDS)
    return now


def _parse_number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
