"""Operations on a page as a whole: run scripts, send input, stop loading, undo steps."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from footlight.browser.driver.deadline import no_progress
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, is_context_lost
from footlight.browser.driver.scripts import run
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.page.diagnosis import explain_closed_page, explain_page_failure, explain_timeout
from footlight.browser.page.page import CRASH_SECONDS, Page, ReadingBlock
from footlight.errors import DeadlineExceededError
from footlight.safe_text import cut_text

if TYPE_CHECKING:
    from playwright.async_api import Dialog

    from footlight.browser.driver.deadline import Deadline, Stage

__all__ = [
    "bring_to_front",
    "close_page",
    "end_at_crash",
    "evaluate",
    "find_target_id",
    "find_title",
    "limit_reading",
    "read_title",
    "report_stages",
    "retry_after_navigation",
    "send_input",
    "send_input_to",
    "stop_loading",
    "stop_next_document",
    "stop_since",
    "undo",
    "undo_on_cancel",
]

T = TypeVar("T")

STOP_SECONDS = 1.0
"""How long a page may take to stop loading."""
UNDO_SECONDS = 1.0
"""How long each undo step may take after a call is cancelled. On a page that hangs, nothing is undone."""
TITLE_SECONDS = 1.0
"""How long a page may take to return its title. A slower page hangs or is about to show another document."""
MAX_TITLE = 2_000

# Scripts and input


async def evaluate(page: Page, script: str, argument: Any, deadline: Deadline) -> Any:
    """Run one of Footlight's own scripts in the page and return its result.

    Raises:
        FootlightError: the page does not respond, or is closed.
    """
    try:
        async with limit_reading(page, deadline):
            return await retry_after_navigation(lambda: run(page.playwright, script, argument))
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def retry_after_navigation(ask: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `ask`. Call it again whenever a navigation destroyed its execution context."""
    while True:
        try:
            return await ask()
        except Error as error:
            if not is_context_lost(error):
                raise


@contextlib.asynccontextmanager
async def limit_reading(page: Page, deadline: Deadline) -> AsyncGenerator[None]:
    """Limit the time of a block that reads the page. Playwright has no timeout for scripts.

    Raises:
        DeadlineExceededError: the deadline is over, or the page reloads again and again.
    """
    timeout = asyncio.timeout(deadline.remaining_ms / 1000)
    block = ReadingBlock(timeout, time.monotonic())
    page.reading_blocks.append(block)
    try:
        async with timeout:
            yield
    except TimeoutError:
        if block.keeps_reloading:
            raise DeadlineExceededError(
                f"The page loaded {block.loads} times within {block.seconds:.1f} s, and was never loaded "
                "long enough to be read",
                suggestion="Wait until it stops loading, or navigate elsewhere.",
                url=page.url,
                loads=block.loads,
            ) from None
        raise await explain_timeout(
            page, f"The page did not respond within {deadline.elapsed}", deadline, url=page.url
        ) from None
    finally:
        page.reading_blocks.remove(block)


@contextlib.asynccontextmanager
async def end_at_crash(page: Page) -> AsyncGenerator[None]:
    """Run a block that ends if the page crashes. Commands to a crashed page may never be answered.

    Raises:
        BrowserCrashedError: the page crashed, and the block did not notice it.
    """
    limit = asyncio.timeout(CRASH_SECONDS if page.crashed else None)
    try:
        async with limit:
            page.crash_limits.add(limit)
            try:
                yield
            finally:
                page.crash_limits.discard(limit)
    except TimeoutError:
        if not limit.expired():
            raise
        raise await explain_closed_page(page) from None


@contextlib.asynccontextmanager
async def send_input(page: Page, message: Callable[[], str], deadline: Deadline) -> AsyncGenerator[None]:
    """Limit the time of a block that sends input to the page itself. The input may close the page.

    Raises:
        DeadlineExceededError: the page takes too long over the input; `message` returns the error's message.
    """
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            yield
    except (TimeoutError, PlaywrightTimeout):
        raise await explain_timeout(
            page, message(), deadline, retryable=False, url=page.url, dispatched=True
        ) from None
    except Error as error:
        if not page.is_closed_by_action(error):
            raise await explain_page_failure(page, error) from error


@contextlib.asynccontextmanager
async def send_input_to(page: Page, selector: str, deadline: Deadline) -> AsyncGenerator[None]:
    """Limit the time of a block that sends input for an element. Playwright's errors are not translated.

    Raises:
        DeadlineExceededError: the page takes too long over the input.
    """
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            yield
    except TimeoutError:
        raise await explain_timeout(
            page,
            f'The action on "{selector}" timed out after {deadline.elapsed}; the action had been dispatched',
            deadline,
            retryable=False,
            selector=selector,
            page=page.url,
            dispatched=True,
        ) from None


# Loading


@contextlib.contextmanager
def report_stages(page: Page, stage: Stage) -> Generator[None]:
    """Report the stages of the navigations in this block."""
    page.report_stage = stage
    try:
        yield
    finally:
        page.report_stage = no_progress


async def stop_next_document(page: Page) -> None:
    """Stop waiting for the next document if one is requested, so that the current one can be used."""
    if page.document_request is not None:
        await stop_loading(page)


async def stop_loading(page: Page) -> None:
    """Stop loading, whether or not the next document has begun to arrive.

    Do nothing while a dialog is open: loading continues after the dialog is answered.
    """
    if page.session.dialogs.find(page.id):
        return
    page.document_request = None
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STOP_SECONDS):
            if page.session.engine != "chromium":
                await page.playwright.evaluate("window.stop()")
                return
            cdp = await page.playwright.context.new_cdp_session(page.playwright)
            await cdp.send("Page.stopLoading")
            await cdp.detach()


async def stop_since(page: Page, began: float) -> None:
    """Stop the loading that an action has started since `began` (`time.monotonic()`)."""
    # The browser responds to this after its events about requests that were sent earlier.
    await page.playwright.context.cookies("http://127.0.0.1")
    if page.document_requested_at >= max(began, page.load_times.get("load", 0.0)):
        await stop_loading(page)


# Undo


@contextlib.asynccontextmanager
async def undo_on_cancel(
    *steps: Callable[[], Awaitable[object]],
    after: tuple[type[BaseException], ...] = (asyncio.CancelledError,),
) -> AsyncGenerator[None]:
    """Run `steps` if the block is cancelled, or ends with one of the exceptions in `after`.

    Playwright ends an operation whose caller is cancelled, and leaves the page in its current state.
    """
    try:
        yield
    except after:
        await undo(*steps)
        raise


async def undo(*steps: Callable[[], Awaitable[object]]) -> None:
    """Run the steps in order, also if the caller is cancelled. Ignore steps that fail."""
    await shield_until_done(_take(steps))


async def _take(steps: Iterable[Callable[[], Awaitable[object]]]) -> None:
    for step in steps:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(UNDO_SECONDS):
                await step()


# Tabs


async def read_title(page: Page) -> str:
    """Return the title, cut if it is long. During a navigation return "", because Playwright makes one up."""
    waiting = page.document_request
    title = cut_text(await page.playwright.title(), MAX_TITLE)
    return "" if waiting or page.document_request else title


async def find_title(page: Page) -> str | None:
    """Return the title, or None if the page hangs or has no document yet."""
    if page.document_request is not None or page.session.dialogs.find(page.id):
        return None
    try:
        async with asyncio.timeout(TITLE_SECONDS):
            title = await read_title(page)
    except (Error, TimeoutError):
        return None
    return None if page.document_request is not None else title


async def bring_to_front(page: Page) -> None:
    """Bring the page to the front of its window. Failures are ignored."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(TITLE_SECONDS):
            await page.playwright.bring_to_front()


async def close_page(page: Page, deadline: Deadline, *, ask: bool) -> bool:
    """Close the page, and return whether it is closed.

    With `ask`, run its `beforeunload` handlers. Their dialog is answered by the session's dialog policy.

    Raises:
        DeadlineExceededError: the page neither closed nor opened a dialog.
    """
    if not ask:
        await page.close()
        return page.closed
    decided = asyncio.Event()

    def on_close(_: object) -> None:
        decided.set()

    def on_dialog(dialog: Dialog) -> None:
        if dialog.type == "beforeunload" and page.session.dialogs.policy["beforeunload"] == "dismiss":
            decided.set()

    page.playwright.on("close", on_close)
    page.playwright.on("dialog", on_dialog)
    page.closing = True
    try:
        async with limit_reading(page, deadline):
            await page.playwright.close(run_before_unload=True)
            await decided.wait()
    finally:
        page.playwright.remove_listener("close", on_close)
        page.playwright.remove_listener("dialog", on_dialog)
        page.closing = page.closed
    return page.closed


async def find_target_id(page: Page) -> str:
    """Return Chromium's target id of the page, for programs that attach to the browser.

    Raises:
        FootlightError: the page is gone.
    """
    try:
        cdp = await page.playwright.context.new_cdp_session(page.playwright)
        reply = cast("dict[str, Any]", await cdp.send("Target.getTargetInfo"))
        await cdp.detach()
    except Error as error:
        raise await explain_page_failure(page, error) from error
    return str(reply["targetInfo"]["targetId"])
