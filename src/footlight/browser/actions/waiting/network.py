"""Wait for the URL of a page, a response or a download."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from footlight.browser.actions.waiting.quotes import MAX_QUOTES, shorten_quote
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout
from footlight.browser.network.request_log import LogFilter
from footlight.browser.page.diagnosis import explain_closed_page, explain_page_failure, explain_timeout
from footlight.browser.page.page_operations import report_stages

if TYPE_CHECKING:
    from footlight.browser.actions.waiting.url_pattern import UrlPattern
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.network.downloads import KnownDownload
    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.page import Page

__all__ = ["wait_for_download", "wait_for_entry", "wait_for_response", "wait_for_url"]


async def wait_for_url(page: Page, pattern: UrlPattern, deadline: Deadline) -> None:
    """Wait until the page has a matching URL and its document is parsed."""
    deadline.stage(f"waiting for the URL {shorten_quote(pattern.text)}")
    try:
        with report_stages(page, deadline.stage):
            await page.playwright.wait_for_url(
                pattern.matches, wait_until="domcontentloaded", timeout=deadline.element_ms
            )
    except PlaywrightTimeout as error:
        within, url = f"within {deadline.elapsed}", shorten_quote(page.url)
        message = (
            f"The document at {url} was not there {within}"
            if pattern.matches(page.url)
            else f'The URL did not become "{shorten_quote(pattern.text)}" {within}; it is {url}'
        )
        raise await explain_timeout(page, message, deadline, url=page.url) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def wait_for_response(page: Page, pattern: UrlPattern, deadline: Deadline) -> LogEntry:
    """Return the first matching response of this page that arrived since the last action, or arrives now."""
    deadline.stage(f"waiting for a response from {shorten_quote(pattern.text)}")
    log, since = page.session.log, page.session.last_action.began_at

    def requests() -> list[LogEntry]:
        return [entry for entry in log.select(LogFilter(page=page.id)) if _end_time(entry) >= since]

    async def find() -> LogEntry | None:
        return await pattern.find_first(requests(), lambda entry: bool(entry.status))

    if entry := await wait_for_entry(page, find, deadline):
        return entry
    urls = [shorten_quote(entry.url) for entry in requests()[-MAX_QUOTES:]]
    raise await explain_timeout(
        page,
        f'No response from "{shorten_quote(pattern.text)}" arrived within {deadline.elapsed}. '
        f"Requested since the last action: {', '.join(urls) or 'nothing'}",
        deadline,
        page=page.url,
    )


async def wait_for_entry(
    page: Page, find: Callable[[], Awaitable[LogEntry | None]], deadline: Deadline
) -> LogEntry | None:
    """Return the request log entry that `find` returns after some response, or None if the patience ends."""
    arrived = asyncio.Event()

    def wake(_: object) -> None:
        arrived.set()

    page.playwright.on("response", wake)
    page.playwright.on("close", wake)
    try:
        async with asyncio.timeout(deadline.element_ms / 1000):
            while not page.closed:
                arrived.clear()
                if entry := await find():
                    return entry
                await arrived.wait()
    except TimeoutError:
        return None
    finally:
        page.playwright.remove_listener("response", wake)
        page.playwright.remove_listener("close", wake)
    raise await explain_closed_page(page)


def _end_time(entry: LogEntry) -> float:
    return float("inf") if entry.duration is None else entry.began + entry.duration / 1000


async def wait_for_download(page: Page, deadline: Deadline) -> KnownDownload:
    """Return the first download to end, of those that are running, begin, or began with the last action."""
    deadline.stage("waiting for a download")
    downloads, begun_before = page.session.downloads, page.session.last_action.downloads_before
    before = downloads.known[: max(0, len(downloads.known) - downloads.count + begun_before)]
    over_before = {each.id for each in before if each.state != "running"}
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            while True:
                for each in downloads.known:
                    if each.state != "running" and each.id not in over_before:
                        return each
                await downloads.wait_for_change()
    except TimeoutError:
        goes_on = [each.suggested_filename for each in downloads.known if each.state == "running"]
        raise await explain_timeout(
            page,
            f"No download was over within {deadline.elapsed}; "
            + (f"{', '.join(map(shorten_quote, goes_on))} goes on" if goes_on else "none began"),
            deadline,
            page=page.url,
        ) from None
