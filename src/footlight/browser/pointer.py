"""The mouse at a point of the viewport, for what no selector finds: a canvas, a map, a picture."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import Mouse

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Point", "click", "drag", "dropping_nothing", "move", "wheel"]

DRAG_STEPS = 10
"""Pages tell a drag from a click by the moves between."""


@dataclass(frozen=True, slots=True)
class Point:
    """CSS pixels of the viewport. `names` are the parameters that it was given by."""

    x: float
    y: float
    names: tuple[str, str] = ("x", "y")


async def click(
    page: Page,
    at: Point,
    deadline: Deadline,
    *,
    button: Literal["left", "middle", "right"],
    count: int,
) -> None:
    async with _mouse(page, deadline, at) as mouse:
        await mouse.click(at.x, at.y, button=button, click_count=count)


async def move(page: Page, to: Point, deadline: Deadline) -> None:
    async with _mouse(page, deadline, to) as mouse:
        await mouse.move(to.x, to.y)


async def drag(page: Page, start: Point, goal: Point, deadline: Deadline) -> None:
    async with _mouse(page, deadline, start, goal) as mouse:
        await mouse.move(start.x, start.y)
        async with page.undoing(*dropping_nothing(page)):
            await mouse.down()
            await mouse.move(goal.x, goal.y, steps=DRAG_STEPS)
            await mouse.up()


def dropping_nothing(page: Page) -> tuple[Callable[[], Awaitable[None]], ...]:
    """As a person gives up a drag. The button goes up even if the key found no answer."""
    return lambda: page.playwright.keyboard.press("Escape"), page.playwright.mouse.up


async def wheel(page: Page, at: Point, x: float, y: float, deadline: Deadline) -> None:
    async with _mouse(page, deadline, at) as mouse:
        await mouse.move(at.x, at.y)
        await mouse.wheel(x, y)


@contextlib.asynccontextmanager
async def _mouse(page: Page, deadline: Deadline, *points: Point) -> AsyncGenerator[Mouse]:
    """Where the points are in the viewport; it has no time limit of its own."""
    width, height = await _viewport(page, deadline)
    for point in points:
        _check(point, width, height)
    message = f"The mouse had no answer after {deadline.timeout_ms:.0f}ms; its events had been sent"
    async with page.sending(message, deadline):
        yield page.playwright.mouse


async def _viewport(page: Page, deadline: Deadline) -> tuple[float, float]:
    if size := page.playwright.viewport_size:
        return size["width"], size["height"]
    width, height = await page.evaluate("() => [innerWidth, innerHeight]", None, deadline)
    return width, height


def _check(point: Point, width: float, height: float) -> None:
    for name, value, size in ((point.names[0], point.x, width), (point.names[1], point.y, height)):
        if not 0 <= value < size:
            raise InvalidParameter(
                f"{name}: {value:g} is outside of the viewport, which has {width:g} x {height:g} CSS pixels",
                parameter=name,
                suggestion="Bring the place into view with scroll, then take a new screenshot.",
                width=width,
                height=height,
            )
