"""Explain why an operation on a page failed: the page is gone, hangs, or waits for its next document."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.pending_starts import SILENCE_ADVICE
from footlight.browser.driver.playwright_api import Error, cause, is_closed, translate_error
from footlight.browser.driver.probe import RESPONSE_SECONDS
from footlight.errors import (
    LOOK_FIRST,
    BrowserCrashedError,
    DeadlineExceededError,
    FootlightError,
    InternalError,
    InvalidParameterError,
)

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.driver.playwright_connection import SilentPart
    from footlight.browser.page.page import Page

__all__ = [
    "HUNG_SECONDS",
    "describe_silence",
    "explain_closed_page",
    "explain_page_failure",
    "explain_timeout",
]

HUNG_SECONDS = 10.0
"""A page that has not responded for this time hangs. Until then, it may be busy."""
SILENCE_SECONDS = 0.2
"""A page is not called silent before it has left a question unanswered for this time."""
STOPPED_OR_OVERLOADED = "is stopped or overloaded, or the machine is overloaded"


def describe_silence(part: SilentPart) -> str:
    """Return a clause about the process that does not respond."""
    whose = {"driver": "the driver of the browsers", "browser": "the browser"}[part]
    return f"{whose} does not respond either: its process {STOPPED_OR_OVERLOADED}"


async def explain_page_failure(page: Page, error: Error) -> FootlightError:
    """Translate a Playwright error about a whole page."""
    if is_closed(error) or page.crashed:
        return await explain_closed_page(page)
    return translate_error(error) or InternalError(cause(error))


async def explain_closed_page(page: Page) -> FootlightError:
    """Return the error for a page that is gone: its session, browser or process has ended, or the page."""
    if ended := await page.session.explain_end():
        return ended
    if page.crashed:
        await page.close()
        return BrowserCrashedError("The page crashed", pageId=page.id)
    return InvalidParameterError(
        f"pageId: {page.id} was closed during the call", parameter="pageId", pages=list(page.session.views)
    )


async def explain_timeout(
    page: Page, message: str, deadline: Deadline, /, *, retryable: bool = True, **details: Any
) -> DeadlineExceededError:
    """Return the error for an operation that timed out, with the reason why the page is busy.

    The page has the remaining time of the call to respond. After that, a page whose script does not end is
    closed if it has not responded for `HUNG_SECONDS`. What responds in the time of the diagnosis works.
    """
    page.start_probes()
    details["timeout"] = deadline.timeout_ms
    suggestion = deadline.advice
    if silent := await page.session.find_silent_part(deadline.limit_reading(RESPONSE_SECONDS)):
        message += f"; {describe_silence(silent)}"
        suggestion = SILENCE_ADVICE[silent]
    elif hung := await _close_hung(page, deadline):
        stopped = (
            ""
            if hung.runs
            else f"process does not respond either: it {_explain_silent_process(hung.waits_for, details)}"
        )
        if hung.closed:
            reason = f"the page's {stopped}" if stopped else "a script in the page does not end"
            message += (
                f"; {reason}. Closed: {', '.join(hung.closed)}. "
                "A call without pageId uses the oldest page that is left, or a new one"
            )
            suggestion = "Open the page again with navigate."
            if hung.runs:
                suggestion += " Give a longer timeout to calls that make it work for long."
            details["closedPages"] = hung.closed
        else:
            message += f"; {page.id} has not answered for {hung.silent_ms:.0f}ms, and stays open"
            message += f": its {stopped}" if stopped else ""
            suggestion = (
                "Call again with a longer timeout: the page may be busy. "
                f"If its script does not end, it is closed after {HUNG_SECONDS:.0f} seconds."
            )
    elif page.document_request is not None:
        message += f"; the page waits for {page.document_request.url}, which has not answered"
        details["waitsFor"] = page.document_request.url
    if not retryable and "closedPages" not in details:
        suggestion = LOOK_FIRST
    return DeadlineExceededError(message, retryable=retryable, suggestion=suggestion, **details)


def _explain_silent_process(url: str | None, details: dict[str, Any]) -> str:
    """Return a clause why the process of a page may not respond.

    A script that waits for a synchronous request blocks the process. `url` is added to the details.
    """
    if url is None:
        return STOPPED_OR_OVERLOADED
    details["waitsFor"] = url
    return f"waits for a synchronous request, such as {url}, {STOPPED_OR_OVERLOADED}"


@dataclass(frozen=True, slots=True)
class _HungPages:
    closed: list[str]
    silent_ms: float
    """How long the page of the call has not responded."""
    runs: bool
    """Whether the process of that page responds. If so, a script keeps the page busy."""
    waits_for: str | None
    """The URL of a request for which a script of that page may wait."""


async def _close_hung(page: Page, deadline: Deadline) -> _HungPages | None:
    """Close the pages that hang, unless this page responds before the deadline of the call."""
    # Chromium runs no script in a page while it waits for the response with the next document.
    if page.document_request is not None:
        return None
    if not deadline.is_over and await page.responds(deadline.remaining_ms / 1000):
        return None
    seconds = deadline.limit_reading(page.silent_seconds)
    waits_for = page.traffic.find_unanswered()
    runs = asyncio.create_task(page.process_responds(seconds))
    try:
        closed = await page.session.close_hung(called_at=deadline.began, within_seconds=seconds)
        silent_since = page.probe.silent_since
        silent_seconds = time.monotonic() - (silent_since or deadline.began)
        if not closed and (silent_since is None or silent_seconds < SILENCE_SECONDS):
            return None
        return _HungPages(closed, silent_seconds * 1000, await runs, waits_for)
    finally:
        runs.cancel()
