"""Why an operation on a page failed, in words that say what is on the page."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from footlight.browser import inspection
from footlight.browser._playwright import (
    Error,
    PlaywrightTimeout,
    cause,
    is_closed,
    is_wrong_kind,
    translated,
    was_dispatched,
    was_editing,
)
from footlight.browser.inspection import INSPECT
from footlight.browser.scripts import run, run_about
from footlight.errors import (
    BrowserCrashed,
    DeadlineExceeded,
    ElementNotFound,
    ElementNotInteractive,
    FootlightError,
    InternalError,
    InvalidParameter,
)

if TYPE_CHECKING:
    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["explained", "gone", "overdue"]

DIAGNOSIS_MS = 2_000
"""How long a failed call may look for the reason."""


async def explained(
    page: Page, error: Error, selector: str | None = None, deadline: Deadline | None = None
) -> FootlightError:
    if is_closed(error) or page.crashed:
        return await gone(page)
    if known := translated(error, selector=selector):
        return known
    if selector is not None and is_wrong_kind(error):
        return ElementNotInteractive(f'"{selector}": {cause(error)}', selector=selector, page=page.url)
    if selector is not None and deadline is not None and isinstance(error, PlaywrightTimeout):
        return await _timed_out(page, error, selector, deadline)
    return InternalError(cause(error))


async def overdue(
    page: Page, message: str, deadline: Deadline, /, *, retryable: bool = True, **details: Any
) -> DeadlineExceeded:
    """The error that tells what keeps the page busy. Pages in an endless script are closed."""
    details["timeout"] = deadline.timeout_ms
    if closed := await page.session.close_hung():
        message += (
            f"; a script in the page does not end. Closed: {', '.join(closed)}. "
            "A call without pageId gets the oldest page left, or a new one"
        )
        details["closedPages"] = closed
    elif page.awaited is not None:
        message += f"; the page waits for {page.awaited.url}, which has not answered"
        details["waitsFor"] = page.awaited.url
    return DeadlineExceeded(message, retryable=retryable, **details)


async def _timed_out(
    page: Page, error: PlaywrightTimeout, selector: str, deadline: Deadline
) -> FootlightError:
    dispatched = was_dispatched(error)
    if not dispatched and (reason := await _reason(page, selector, deadline, editing=was_editing(error))):
        return reason
    done = "the action had been dispatched" if dispatched else "the action was not dispatched"
    return await overdue(
        page,
        f'The action on "{selector}" timed out after {deadline.timeout_ms:.0f}ms; {done}',
        deadline,
        retryable=not dispatched,
        selector=selector,
        page=page.url,
        dispatched=dispatched,
    )


async def _reason(page: Page, selector: str, deadline: Deadline, *, editing: bool) -> FootlightError | None:
    """Why the element could not be used: missing, or in the way of what."""
    try:
        async with asyncio.timeout(DIAGNOSIS_MS / 1000):
            found = await page.locate_now(selector, deadline)
            if await found.count() == 0:
                return await _not_found(page, selector)
            request = inspection.obstacle_request(editing=editing)
            try:
                told = await run_about(found.first, INSPECT, request, timeout_ms=DIAGNOSIS_MS / 2)
            except PlaywrightTimeout:  # It left meanwhile, or the page is too busy to tell.
                return None if await found.count() else await _not_found(page, selector)
            obstacle = inspection.obstacle(told)
    except (Error, TimeoutError, ValueError):
        return None
    if obstacle is None:
        return None
    return ElementNotInteractive(
        f'"{selector}" cannot be used: {obstacle["detail"]}',
        selector=selector,
        page=page.url,
        reason=obstacle["reason"],
        by=obstacle["by"],
    )


async def _not_found(page: Page, selector: str) -> ElementNotFound:
    try:
        async with asyncio.timeout(DIAGNOSIS_MS / 1000):
            closest = inspection.closest(
                await run(page.playwright, INSPECT, inspection.closest_request(selector))
            )
    except (Error, TimeoutError, ValueError):
        closest = []
    return ElementNotFound.at(selector, page=page.url, closest=closest)


async def gone(page: Page) -> FootlightError:
    """The page is not there any more: was it the session, the browser, the page's process, or the page?"""
    if ended := await page.session.ended():
        return ended
    if page.crashed:
        await page.close()
        return BrowserCrashed("The page crashed", pageId=page.id)
    return InvalidParameter(
        f"pageId: {page.id} was closed during the call",
        parameter="pageId",
        pages=[page.id for page in page.session.pages],
    )
