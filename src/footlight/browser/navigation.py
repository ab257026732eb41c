"""Going from page to page."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from footlight.browser._playwright import (
    Error,
    PlaywrightTimeout,
    cause,
    is_closed,
    network_cause,
    translated,
    was_aborted,
    was_crossed,
)
from footlight.browser.diagnosis import explained, gone, overdue
from footlight.browser.downloads import ABORTED_SECONDS
from footlight.browser.policy import host_of, refused
from footlight.errors import FootlightError, NavigationFailed, NetworkFailed

if TYPE_CHECKING:
    from playwright.async_api import Response

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Navigation", "go_back", "go_forward", "navigate", "reload", "wait_for_load"]

WaitUntil = Literal["load", "domcontentloaded", "networkidle"]


@dataclass(frozen=True, slots=True)
class Navigation:
    """How a page came to where it is. Times are milliseconds; `start_time` since the epoch."""

    url: str
    status: int | None
    redirected: bool
    start_time: float
    dom_content_loaded: float | None
    load_complete: float | None
    duration: float


async def navigate(page: Page, url: str, wait_until: WaitUntil, deadline: Deadline) -> Navigation:
    page.session.policy.check_url(url)
    return await _go(
        page,
        lambda timeout: page.playwright.goto(url, wait_until=wait_until, timeout=timeout),
        deadline,
        url=url,
    )


async def go_back(page: Page, deadline: Deadline) -> Navigation:
    return await _go(page, lambda timeout: page.playwright.go_back(timeout=timeout), deadline)


async def go_forward(page: Page, deadline: Deadline) -> Navigation:
    return await _go(page, lambda timeout: page.playwright.go_forward(timeout=timeout), deadline)


async def reload(page: Page, deadline: Deadline, *, ignore_cache: bool) -> Navigation:
    if not ignore_cache:
        return await _go(page, lambda timeout: page.playwright.reload(timeout=timeout), deadline)
    # Interception switches the HTTP cache off, in every engine.
    async with page.session.without_cache(page.playwright):
        return await _go(page, lambda timeout: page.playwright.reload(timeout=timeout), deadline)


async def wait_for_load(page: Page, state: WaitUntil, deadline: Deadline) -> None:
    deadline.stage(f"waiting for the page to reach the state {state}")
    try:
        with page.telling(deadline.stage):
            await page.playwright.wait_for_load_state(state, timeout=deadline.remaining_ms)
    except PlaywrightTimeout as error:
        raise await overdue(
            page,
            f"The page did not reach the state {state} within {deadline.timeout_ms:.0f}ms",
            deadline,
            url=page.url,
        ) from error
    except Error as error:
        raise await explained(page, error) from error


async def _go(
    page: Page,
    go: Callable[[float], Awaitable[Response | None]],
    deadline: Deadline,
    *,
    url: str | None = None,
) -> Navigation:
    began, start_time = time.monotonic(), time.time() * 1000
    downloads = page.session.downloads.count
    page.loaded.clear()
    page.failed = None
    if url is None:
        await page.stop_loading()
    try:
        with page.telling(deadline.stage):
            async with page.undoing(page.stop):
                response = await _despite_error_page(go, deadline, url)
    except Error as error:
        if not await _became_download(page, error, downloads):
            raise await _navigation_error(page, error, url, deadline) from error
        response = None
    if response is not None:
        page.session.check_proxied(response)

    def after(event: str) -> float | None:
        return _milliseconds(page.loaded[event] - began) if event in page.loaded else None

    return Navigation(
        url=page.url,
        status=response.status if response else None,
        redirected=bool(response and response.request.redirected_from),
        start_time=round(start_time),
        dom_content_loaded=after("dom"),
        load_complete=after("load"),
        duration=_milliseconds(time.monotonic() - began),
    )


async def _despite_error_page(
    go: Callable[[float], Awaitable[Response | None]], deadline: Deadline, url: str | None
) -> Response | None:
    """The browser's page about an earlier failure may come late, and then takes the place of ours."""
    while True:
        try:
            return await go(deadline.remaining_ms)
        except Error as error:
            if not was_crossed(error, url):
                raise


async def _became_download(page: Page, error: Error, before: int) -> bool:
    """A URL that is a file ends the navigation; the download may be announced just after that."""
    if not was_aborted(error):
        return False
    page.session.downloads.expect(ABORTED_SECONDS)
    await page.session.downloads.settle()
    return page.session.downloads.count > before


async def _navigation_error(page: Page, error: Error, url: str | None, deadline: Deadline) -> FootlightError:
    if is_closed(error):
        return await gone(page)
    where = url or page.url
    if isinstance(error, PlaywrightTimeout):
        await page.stop_loading()
        return await overdue(
            page, f"Navigation timed out after {deadline.timeout_ms:.0f}ms", deadline, url=where
        )
    failed_host = host_of(page.failed.url) if page.failed else ""
    if failed_host and page.session.policy.refuses(failed_host):
        return refused(failed_host, where)
    network = network_cause(error)
    if network is None and (known := translated(error)):
        return known
    message = f"{where} could not be opened: {network or cause(error)}"
    if url is None and network is not None:
        return NetworkFailed(message, url=where)
    return NavigationFailed(message, url=where)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
