"""Explain why an operation on an element failed: it is missing, hidden, disabled, covered or not a field."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_api import (
    Error,
    PlaywrightTimeout,
    cause,
    find_interceptor,
    is_closed,
    is_wrong_kind,
    translate_error,
    was_dispatched,
    was_editing,
    was_unstable,
)
from footlight.browser.driver.scripts import run, run_about
from footlight.browser.page import inspection
from footlight.browser.page.diagnosis import explain_closed_page, explain_timeout
from footlight.browser.page.inspection import INSPECT
from footlight.browser.page.press_check import has_press_begun
from footlight.browser.page.refs import locate_now
from footlight.errors import ElementNotFoundError, ElementNotInteractiveError, FootlightError, InternalError

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.inspection import Obstacle
    from footlight.browser.page.page import Page

__all__ = [
    "READ_ONLY_ADVICE",
    "ObstacleFinder",
    "describe_fields_inside",
    "element_keeps_moving",
    "explain_element_failure",
    "find_lasting_cover",
    "find_obstacle",
]

ObstacleFinder = Callable[[], Awaitable[FootlightError | None]]
"""A function that returns the error that explains why an element cannot be used, or None if it can be used
or the page does not respond."""

READ_ONLY_ADVICE = "Click it: such a field often opens a list or a calendar. Or do first what enables it."
COVER_SECONDS = 1.0
"""A cover that lasts longer than this must be closed."""
DIAGNOSIS_MS = 1_000
"""The time in which a failed call looks for the reason in a page that responds."""


async def explain_element_failure(
    page: Page,
    error: Error,
    selector: str,
    deadline: Deadline | None = None,
    find: ObstacleFinder | None = None,
) -> FootlightError:
    """Translate a Playwright error about an element. `find` returns the obstacle, if given."""
    if is_closed(error) or page.crashed:
        return await explain_closed_page(page)
    if known := translate_error(error, selector=selector):
        return known
    if find is not None and isinstance(error, PlaywrightTimeout) and (obstacle := await find()):
        return obstacle
    if is_wrong_kind(error):
        reason = cause(error)
        was_pressed = "did not change its state" in reason
        inside = (
            await describe_fields_inside(page, selector, deadline) if deadline and not was_pressed else ""
        )
        return ElementNotInteractiveError(
            f'"{selector}": {reason}{inside}',
            suggestion=next((way for what, way in _WAYS_OUT if what in reason), None),
            selector=selector,
            page=page.url,
            reason=None if was_pressed else "wrong kind",
            dispatched=True if was_pressed else None,
        )
    if deadline is not None and isinstance(error, PlaywrightTimeout):
        return await _explain_element_timeout(page, error, selector, deadline, inspected=find is not None)
    return InternalError(cause(error))


_WAYS_OUT = (
    ('Input of type "checkbox"', "Use check or uncheck."),
    ('Input of type "radio"', "Use check."),
    ('Input of type "file"', "Use upload_file."),
    ("Input of type", "Use click."),
    ("Element is not a <select>", "Click it, and then the option that appears."),
    (
        "Element is not an <input>",
        "Give the field itself; select takes options, check ticks, click presses.",
    ),
    ("Not a checkbox or radio button", "Use click."),
    ("did not change its state", "It was clicked once. Look at the page before you repeat the call."),
    ("Cannot uncheck radio", "Check another one of the group."),
)
"""Parts of Playwright's reasons, and a suggestion for each. The first that matches is used."""


async def _explain_element_timeout(
    page: Page, error: PlaywrightTimeout, selector: str, deadline: Deadline, *, inspected: bool
) -> FootlightError:
    """Return the obstacle, or how far the action got if the page was already `inspected` for one."""
    dispatched, elapsed = was_dispatched(error), deadline.elapsed
    if not dispatched and not inspected:
        obstacle = await find_obstacle(page, selector, deadline, editing=was_editing(error))
        if obstacle is not None:
            return obstacle
        if by := find_interceptor(error):
            return element_keeps_moving(page, selector, by)
    state = "the action had been dispatched" if dispatched else "the action was not dispatched"
    if not dispatched and was_unstable(error):
        state += ": the element was still moving"
    return await explain_timeout(
        page,
        f'The action on "{selector}" timed out after {elapsed}; {state}',
        deadline,
        retryable=not dispatched,
        selector=selector,
        page=page.url,
        dispatched=dispatched,
    )


async def find_obstacle(
    page: Page, selector: str, deadline: Deadline, *, editing: bool = False
) -> FootlightError | None:
    """Return the error that explains why an element cannot be used now.

    Return None if it can be used, or if the page does not reply in time. With `editing`, a read-only field is
    an obstacle too.
    """
    obstacle, visible_others = None, 0
    page.start_probes()
    if not await page.probe.is_answered(deadline.limit_reading(DIAGNOSIS_MS / 1000)):
        return None
    try:
        # A page that responds has the whole time: without the reason, the caller could not go on.
        async with asyncio.timeout(DIAGNOSIS_MS / 1000):
            found = await locate_now(page, selector, deadline)
            is_there = await found.count() > 0
            if is_there:
                try:
                    obstacle = await _inspect_obstacle(found.first, editing=editing)
                    if obstacle and obstacle["reason"] == "hidden":
                        visible_others = await found.locator("visible=true").count()
                except PlaywrightTimeout:  # The element was just removed, or the page is too busy to reply.
                    is_there = await found.count() > 0
    except (Error, TimeoutError, ValueError):
        return None
    if not is_there:
        return await _element_not_found(page, selector, deadline.limit_reading(DIAGNOSIS_MS / 1000))
    return obstacle and _element_not_interactive(page, selector, obstacle, visible_others)


async def find_lasting_cover(page: Page, selector: str, element: Locator) -> FootlightError | None:
    """Return the error about a cover over an element that must be closed.

    Return None if nothing covers the element, or if the cover has lasted less than a second.
    """
    covers: list[Obstacle] = []
    try:
        for _ in range(2):
            async with asyncio.timeout(DIAGNOSIS_MS / 1000):
                if await has_press_begun(element, DIAGNOSIS_MS / 2):
                    return None
                cover = await _inspect_obstacle(element)
            if cover is None or not cover.get("waits"):
                return None
            covers.append(cover)
            await asyncio.sleep(0 if len(covers) > 1 else COVER_SECONDS)
    except (Error, TimeoutError, ValueError):
        return None
    first, second = covers
    return _element_not_interactive(page, selector, second) if first["by"] == second["by"] else None


async def describe_fields_inside(page: Page, selector: str, deadline: Deadline) -> str:
    """Return a sentence that lists the fields inside an element, or "" if it has none."""
    try:
        async with asyncio.timeout(deadline.limit_reading(DIAGNOSIS_MS / 1000)):
            found = await locate_now(page, selector, deadline)
            reply = await run_about(
                found.first, INSPECT, inspection.fields_request(), timeout_ms=DIAGNOSIS_MS / 2
            )
            fields = inspection.read_closest(reply)
    except (Error, TimeoutError, ValueError):
        return ""
    return f". Use the field inside it: {'; '.join(fields)}" if fields else ""


async def _inspect_obstacle(element: Locator, *, editing: bool = False) -> Obstacle | None:
    request = inspection.obstacle_request(editing=editing)
    return inspection.read_obstacle(await run_about(element, INSPECT, request, timeout_ms=DIAGNOSIS_MS / 2))


def element_keeps_moving(page: Page, selector: str, by: str) -> ElementNotInteractiveError:
    """Return the error for an element that moved away at each try. `by` is the element at its place."""
    return ElementNotInteractiveError(
        f'"{selector}" cannot be used: at each try, the mouse was over {by} instead; nothing was done',
        selector=selector,
        page=page.url,
        reason="moved",
        by=by,
    )


def _element_not_interactive(
    page: Page, selector: str, obstacle: Obstacle, visible_others: int = 0
) -> ElementNotInteractiveError:
    """Return the error for an obstacle. `visible_others` counts the visible matches."""
    others = suggestion = None
    if visible_others:
        others = f"; the selector also matches {visible_others} visible element{'s' * (visible_others > 1)}"
        suggestion = f'Use "{selector} >> visible=true" for the first visible match, or a ref.'
    elif obstacle["reason"] == "hidden":
        suggestion = "Do first what shows it, such as opening its menu, tab or section, then try again."
    elif obstacle["reason"] == "readonly":
        suggestion = READ_ONLY_ADVICE
    return ElementNotInteractiveError(
        f'"{selector}" cannot be used: {obstacle["detail"]}{others or ""}',
        suggestion=suggestion,
        selector=selector,
        page=page.url,
        reason=obstacle["reason"],
        by=obstacle["by"],
    )


async def _element_not_found(page: Page, selector: str, seconds: float) -> ElementNotFoundError:
    try:
        async with asyncio.timeout(seconds):
            closest = inspection.read_closest(
                await run(page.playwright, INSPECT, inspection.closest_request(selector))
            )
    except (Error, TimeoutError, ValueError):
        closest = []
    return ElementNotFoundError.at(selector, page=page.url, closest=closest)
