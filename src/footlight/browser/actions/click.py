"""Click an element, hover over it, or drag it to another one.

Each action waits until its element can be used, or reports the obstacle.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.browser.actions.keyboard import release_keys
from footlight.browser.actions.mouse import (
    BUTTON_DOWN_MS,
    Point,
    cancel_drag_steps,
    drag_over,
    find_middle,
    press_at_once,
    release_at_once,
    viewport_size,
)
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, is_not_ready, was_dispatched
from footlight.browser.page.element_diagnosis import element_keeps_moving, find_lasting_cover
from footlight.browser.page.element_operations import act_on_element
from footlight.browser.page.page_operations import send_input_to, undo, undo_on_cancel
from footlight.browser.page.press_check import (
    NOT_READY,
    PressOutcome,
    find_readiness,
    is_button_held,
    take_outcome,
    watch_drag,
    watch_press,
)
from footlight.browser.page.refs import locate

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator

    from footlight.browser.actions.keyboard import Modifier
    from footlight.browser.actions.mouse import Button
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["click_element", "drag_element", "hover_element"]

COVERED_SECONDS = 2.0
"""How often to check whether the element of a click that has not begun is covered."""
RETRY_SECONDS = (0.02, 0.1, 0.5)
"""The pauses between presses that did not reach the element. Movements in the page may end during them."""


async def click_element(
    page: Page,
    selector: str,
    deadline: Deadline,
    *,
    button: Button,
    count: int,
    modifiers: Sequence[Modifier] = (),
) -> str | None:
    """Click an element, repeatedly if a press does not reach it. Return a notice for the caller, or None.

    `modifiers` are held down during the click.

    Raises:
        ElementNotInteractiveError: the element moves away at each press. The page has not received a press.
    """

    async def press(element: Locator, _: float) -> PressOutcome:
        pauses = itertools.chain(RETRY_SECONDS, itertools.repeat(RETRY_SECONDS[-1]))
        outcome: PressOutcome | None = None
        while True:
            began = time.monotonic()
            how = _Press(button=button, count=count, modifiers=modifiers)
            click = _click(page, selector, element, deadline, how, tries_fast=outcome is None)
            try:
                async with undo_on_cancel(
                    lambda: take_outcome(page), lambda: release_keys(page, *map(_to_key, modifiers))
                ):
                    await _click_unless_covered(page, selector, element, click)
            except PlaywrightTimeout as error:
                if not was_dispatched(error):
                    await undo(lambda: take_outcome(page))  # The next press is not kept from the page.
                if outcome is None or was_dispatched(error):
                    raise
                return outcome
            outcome = await take_outcome(page)
            if outcome.state != "lost":
                async with send_input_to(page, selector, deadline):
                    await page.traffic.wait_for_navigations(began)
            if outcome.state != "lost" or deadline.element_ms <= 1:
                return outcome
            await asyncio.sleep(next(pauses))

    outcome = await act_on_element(page, selector, deadline, press)
    if outcome and outcome.state == "lost":
        raise element_keeps_moving(page, selector, outcome.by)
    return _NOTICES[outcome.state].format(by=outcome.by) if outcome and outcome.state in _NOTICES else None


_NOTICES = {
    "strayed": "the element moved while the button was down: it was pressed, and the click went to {by}",
    "replaced": "the page replaced the element when it was pressed: no click followed",
    "partial": "only {by} clicks reached the element, which moved or vanished; the page got no other click",
    "inside": "the click went to {by} inside the element",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Press:
    button: Button
    count: int
    modifiers: Sequence[Modifier]


def _to_key(modifier: Modifier) -> str:
    return modifier if modifier != "ControlOrMeta" else "Meta" if sys.platform == "darwin" else "Control"


async def _click(
    page: Page, selector: str, element: Locator, deadline: Deadline, how: _Press, *, tries_fast: bool
) -> None:
    """Click when Playwright finds the element ready, or at once if it certainly would.

    `force` skips Playwright's own checks, which wait until the element has not moved for two frames.
    """
    timeout_ms = deadline.action_ms
    can_be_fast = page.session.engine == "chromium" and not page.session.dialogs.asks
    ready = NOT_READY
    if can_be_fast:
        ready = await find_readiness(page, selector, element, timeout_ms, how.count)
    force = tries_fast and ready.is_certain and page.document_request is None
    if force and ready.point and page.own_cdp and not how.modifiers and not page.session.is_traced:
        async with send_input_to(page, selector, deadline):
            await _click_at_once(page, page.own_cdp, Point(*ready.point), how)
        return
    try:
        await watch_press(element, timeout_ms, how.count).click(
            button=how.button,
            click_count=how.count,
            modifiers=list(how.modifiers),
            delay=BUTTON_DOWN_MS,
            force=force,
            position=ready.at,
            timeout=timeout_ms,
        )
    except Error as error:
        if not (force and is_not_ready(error)):
            raise
        await _click(page, selector, element, deadline, how, tries_fast=False)


async def _click_at_once(page: Page, cdp: CDPSession, at: Point, how: _Press) -> None:
    """Click without waits. Send a release again that Chromium has dropped because a dialog was open."""
    dialogs = page.session.dialogs.count
    for number in range(1, how.count + 1):
        await press_at_once(cdp, at, button=how.button, number=number)
        if page.session.dialogs.count > dialogs and await is_button_held(page):
            await release_at_once(cdp, at, button=how.button, number=number)


async def _click_unless_covered(
    page: Page, selector: str, element: Locator, click: Coroutine[Any, Any, None]
) -> None:
    """Wait for a click, but stop waiting if the element is covered by something that must be closed first."""
    clicking = asyncio.create_task(page.act_through_dialog(click))
    try:
        while not (await asyncio.wait([clicking], timeout=COVERED_SECONDS))[0]:
            if cover := await find_lasting_cover(page, selector, element):
                raise cover
        await clicking
    finally:
        clicking.cancel()


async def hover_element(page: Page, selector: str, deadline: Deadline) -> None:
    """Move the mouse over an element."""
    await act_on_element(
        page, selector, deadline, lambda element, timeout_ms: element.hover(timeout=timeout_ms)
    )


async def drag_element(page: Page, source: str, target: str, deadline: Deadline) -> str | None:
    """Drag an element onto another one. Return a notice for the caller, or None."""

    async def drag(element: Locator, timeout_ms: float) -> str | None:
        goal = watch_drag((await locate(page, target, deadline, acts=True)).first, timeout_ms)
        await element.hover(timeout=timeout_ms)
        size = await viewport_size(page, deadline)
        start = await find_middle(element, timeout_ms, size)
        towards = await find_middle(goal, timeout_ms, size, scrolls=False)
        cancel = undo_on_cancel(*cancel_drag_steps(page), after=(asyncio.CancelledError, Error))
        async with send_input_to(page, source, deadline), cancel:
            await drag_over(
                page.playwright.mouse, start, towards, lambda: find_middle(goal, timeout_ms, size)
            )
        if (await take_outcome(page)).state == "ignored":
            return "the page did not take the drop: it refused it there, or the target moved away"
        return None

    # A trial waits until the mouse can reach an element, so that there is no such wait while the button is
    # down.
    # The target is tried first, so that a missing or covered target is not reported as a problem of the
    # source.
    for selector in (target, source):
        await act_on_element(
            page,
            selector,
            deadline,
            lambda element, timeout_ms: element.hover(trial=True, timeout=timeout_ms),
        )
    return await act_on_element(page, source, deadline.without_patience(), drag)
