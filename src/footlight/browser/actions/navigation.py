"""Navigate a page: to a URL, back, forward, and reload."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from footlight.browser.driver.playwright_api import (
    Error,
    PlaywrightTimeout,
    cause,
    is_between_documents,
    is_closed,
    is_error_page,
    network_cause,
    translate_error,
    was_aborted,
    was_interrupted,
)
from footlight.browser.network.downloads import ABORTED_SECONDS
from footlight.browser.network.policy import host_of, make_refused_host_error
from footlight.browser.page.capture import snapshot_engine
from footlight.browser.page.diagnosis import explain_closed_page, explain_page_failure, explain_timeout
from footlight.browser.page.page_operations import (
    report_stages,
    stop_loading,
    stop_next_document,
    undo_on_cancel,
)
from footlight.browser.page.settling import watch_next_document
from footlight.errors import FootlightError, NavigationFailedError, NetworkFailedError

if TYPE_CHECKING:
    from playwright.async_api import Response, Route

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.page import Page

__all__ = ["Navigation", "go_back", "go_forward", "navigate", "reload", "wait_for_load"]

COMMIT_SECONDS = 0.25
"""How long to wait for a page that accepts no command before it is tried again."""
ERROR_PAGE_SECONDS = 1.0
"""How long the browser's own error page may take to open."""
EMPTY_STATUSES = frozenset({204, 205})

WaitUntil = Literal["load", "domcontentloaded", "networkidle"]


@dataclass(frozen=True, slots=True)
class Navigation:
    """The result of a navigation. Times are in milliseconds, `start_time` since the epoch."""

    url: str
    status: int | None
    redirected: bool
    start_time: float
    dom_content_loaded: float | None
    load_complete: float | None
    duration: float


async def navigate(page: Page, url: str, wait_until: WaitUntil, deadline: Deadline) -> Navigation:
    """Open a URL.

    Raises:
        PermissionDeniedError: the policy refuses the URL.
        NavigationFailedError: the URL cannot be opened.
    """
    page.session.policy.check_url(url)
    return await _run_navigation(
        page,
        lambda timeout: page.playwright.goto(url, wait_until=wait_until, timeout=timeout),
        deadline,
        url=url,
    )


async def go_back(page: Page, deadline: Deadline) -> Navigation:
    """Go back in the page's history."""
    return await _run_navigation(page, lambda timeout: page.playwright.go_back(timeout=timeout), deadline)


async def go_forward(page: Page, deadline: Deadline) -> Navigation:
    """Go forward in the page's history."""
    return await _run_navigation(page, lambda timeout: page.playwright.go_forward(timeout=timeout), deadline)


async def reload(page: Page, deadline: Deadline, *, ignore_cache: bool) -> Navigation:
    """Load the page again."""
    if not ignore_cache:
        return await _run_navigation(page, lambda timeout: page.playwright.reload(timeout=timeout), deadline)
    async with _without_cache(page):
        return await _run_navigation(page, lambda timeout: page.playwright.reload(timeout=timeout), deadline)


@asynccontextmanager
async def _without_cache(page: Page) -> AsyncGenerator[None]:
    """Bypass the browser's cache in this block. Interception disables the cache."""

    async def fall_back(route: Route) -> None:
        await route.fallback()

    try:
        await page.playwright.route("**/*", fall_back)
        yield
    finally:
        with suppress(Error):
            await page.playwright.unroute("**/*", fall_back)


async def wait_for_load(page: Page, state: WaitUntil, deadline: Deadline) -> None:
    """Wait until the page has reached a load state."""
    deadline.stage(f"waiting for the page to reach the state {state}")
    try:
        with report_stages(page, deadline.stage):
            await page.playwright.wait_for_load_state(state, timeout=deadline.remaining_ms)
    except PlaywrightTimeout as error:
        raise await explain_timeout(
            page,
            f"The page did not reach the state {state} within {deadline.elapsed}",
            deadline,
            url=page.url,
        ) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def _run_navigation(
    page: Page,
    go: Callable[[float], Awaitable[Response | None]],
    deadline: Deadline,
    *,
    url: str | None = None,
) -> Navigation:
    began, start_time = time.monotonic(), time.time() * 1000
    downloads = page.session.downloads.count
    failed_before, becomes_download = page.failed_request, False
    page.load_times.clear()
    page.failed_request = None
    if url is None:
        await stop_next_document(page)
    page.committed.clear()
    watching = page.watching = asyncio.create_task(_prepare_next_document(page))
    try:
        with report_stages(page, deadline.stage):
            async with undo_on_cancel(lambda: stop_loading(page)):
                response = await _go_past_error_page(page, go, deadline, url)
    except Error as error:
        if not await _has_become_download(page, error, downloads):
            raise await _explain_failed_navigation(page, error, url, deadline) from error
        response, becomes_download = None, True
    finally:
        if not page.committed.is_set():
            watching.cancel()
    if response is None and not becomes_download and is_error_page(page.url):
        # A step to a missing history entry leaves the page at the error page of an earlier failure.
        page.failed_request = page.failed_request or failed_before
        raise _not_opened_error(page, url, "the browser shows its own page about a failure")
    if response is not None:
        page.session.check_proxy_response(response)

    def time_of(event: str) -> float | None:
        return _milliseconds(page.load_times[event] - began) if event in page.load_times else None

    return Navigation(
        url=page.url,
        status=response.status if response else None,
        redirected=bool(response and response.request.redirected_from),
        start_time=round(start_time),
        dom_content_loaded=time_of("dom"),
        load_complete=time_of("load"),
        duration=_milliseconds(time.monotonic() - began),
    )


async def _prepare_next_document(page: Page) -> None:
    """Watch the next document while it loads, and load the script that takes its snapshot."""
    await watch_next_document(page)
    with suppress(Error):
        await page.scripts.load(snapshot_engine)


async def _go_past_error_page(
    page: Page,
    go: Callable[[float], Awaitable[Response | None]],
    deadline: Deadline,
    url: str | None,
) -> Response | None:
    """Navigate, and repeat it if the error page of an earlier failure opens late and interrupts it."""
    while True:
        page.failed_request = None
        try:
            return await go(deadline.remaining_ms)
        except Error as error:
            if is_between_documents(error) and not deadline.is_over:
                await _wait_for_commit(page, COMMIT_SECONDS)
            elif not was_interrupted(error, url, page.timed_out_url):
                raise


async def _wait_for_commit(page: Page, limit_seconds: float) -> None:
    """Wait until the document that is being loaded is committed."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_seconds):
            await page.committed.wait()


async def _has_become_download(page: Page, error: Error, before: int) -> bool:
    """Return whether the URL became a download. It is reported just after the navigation has failed."""
    if not was_aborted(error):
        return False
    page.session.downloads.expect(ABORTED_SECONDS)
    await page.session.downloads.settle()
    return page.session.downloads.count > before


async def _explain_failed_navigation(
    page: Page, error: Error, url: str | None, deadline: Deadline
) -> FootlightError:
    if is_closed(error) or page.crashed or page.session.closed:
        return await explain_closed_page(page)
    where = url or page.url
    if isinstance(error, PlaywrightTimeout):
        page.timed_out_url = page.document_request.url if page.document_request else url
        await stop_next_document(page)
        page.is_navigating = True
        try:
            return await explain_timeout(
                page, f"Navigation timed out after {deadline.elapsed}", deadline, url=where
            )
        finally:
            page.is_navigating = False
    failed_host = host_of(page.failed_request.url) if page.failed_request else ""
    if failed_host and page.session.policy.refuses(failed_host):
        return make_refused_host_error(failed_host, where)
    network = network_cause(error)
    if network is None and (known := translate_error(error)):
        return known
    if network is not None and not was_aborted(error):
        # The browser opens its error page a moment later. Until then the page accepts no commands.
        await _wait_for_commit(page, ERROR_PAGE_SECONDS)
    if was_aborted(error) and (empty := _find_empty_response(page, deadline.began)):
        return NavigationFailedError(
            f"{empty.url} has no document: the server answered {empty.status}, and the page stays as it was",
            url=empty.url,
            status=empty.status,
            suggestion="Navigate to another URL. The browser shows nothing for this answer.",
        )
    return _not_opened_error(page, url, network or cause(error), network=network is not None)


def _find_empty_response(page: Page, since: float) -> LogEntry | None:
    """Return the last document that was requested if its response has no content by its status."""
    documents = [e for e in page.session.log.since(since, page=page.id) if e.resource_type == "document"]
    return documents[-1] if documents and documents[-1].status in EMPTY_STATUSES else None


def _not_opened_error(page: Page, url: str | None, why: str, *, network: bool = True) -> FootlightError:
    """Return the error for a URL that could not be opened.

    It never has the URL of the browser's error page.
    """
    failed = page.failed_request.url if page.failed_request else page.url
    where = url or failed
    message = f"{where} could not be opened: {why}"
    if url is None and network:
        return NetworkFailedError(message, url=where)
    return NavigationFailedError(message, url=where)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
