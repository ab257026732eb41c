"""Act on an element or read from it: find it, wait for it within the deadline, and explain failures."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.element_diagnosis import ObstacleFinder, explain_element_failure, find_obstacle
from footlight.browser.page.page_operations import (
    limit_reading,
    retry_after_navigation,
    stop_since,
    undo_on_cancel,
)
from footlight.browser.page.refs import locate, locate_now
from footlight.errors import FootlightError

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["act_on_element", "limit_element_wait", "read_all_elements", "read_element"]

T = TypeVar("T")

PROMPT_SECONDS = 1.0
"""A page that takes longer to respond is busy, so the state of its elements is unknown."""
RETRY_SECONDS = 1.0
"""The time between two searches for an obstacle while the page is busy."""
DONE_SECONDS = 0.5
"""How long an operation may take to end after the page has responded, as it may be almost done."""


async def act_on_element(
    page: Page,
    selector: str,
    deadline: Deadline,
    action: Callable[[Locator, float], Awaitable[T]],
    *,
    find: ObstacleFinder | None = None,
) -> T | None:
    """Act on the first match, and return the result of `action`, or None if it closed the page.

    `action` receives its timeout in milliseconds. `find` returns the obstacle that prevents the action.

    Raises:
        FootlightError: the reason why the action failed.
    """
    began = time.monotonic()
    try:
        async with undo_on_cancel(lambda: stop_since(page, began)):
            return await _use_element(page, selector, deadline, action, find, acts=True)
    except Error as error:
        if not page.is_closed_by_action(error):
            raise await explain_element_failure(page, error, selector, deadline, find) from error
    return None


async def read_element(
    page: Page,
    selector: str,
    deadline: Deadline,
    read: Callable[[Locator, float], Awaitable[T]],
    *,
    find: ObstacleFinder | None = None,
    acts: bool = False,
) -> T:
    """Return the result of `read` for the first match. It receives its timeout in milliseconds.

    `find` returns the obstacle that prevents the use of the element. With `acts`, a ref must still have the
    meaning that it had in the last snapshot.

    Raises:
        FootlightError: the reason why it failed.
    """
    try:
        return await _use_element(page, selector, deadline, read, find, acts=acts)
    except Error as error:
        raise await explain_element_failure(page, error, selector, deadline, find) from error


async def read_all_elements(
    page: Page, selector: str, deadline: Deadline, read: Callable[[Locator], Awaitable[T]]
) -> T:
    """Return the result of `read` for all current matches.

    Raises:
        FootlightError: the reason why it failed.
    """

    async def read_now() -> T:
        return await read(await locate_now(page, selector, deadline))

    try:
        async with limit_reading(page, deadline):
            return await retry_after_navigation(read_now)
    except Error as error:
        raise await explain_element_failure(page, error, selector, deadline) from error


async def _use_element(
    page: Page,
    selector: str,
    deadline: Deadline,
    use: Callable[[Locator, float], Awaitable[T]],
    find: ObstacleFinder | None,
    *,
    acts: bool,
) -> T:
    async def use_first() -> T:
        element = (await locate(page, selector, deadline, acts=acts)).first
        return await use(element, deadline.action_ms)

    async with limit_element_wait(page, deadline, find or (lambda: find_obstacle(page, selector, deadline))):
        return await retry_after_navigation(use_first)


@contextlib.asynccontextmanager
async def limit_element_wait(page: Page, deadline: Deadline, find: ObstacleFinder) -> AsyncGenerator[None]:
    """Allow the block the whole deadline, but end it if its element was not usable in time.

    The page may take longer to handle its input than the wait for an element may take, and does not respond
    meanwhile. So the block ends early only if the page responds and an obstacle is found.

    Raises:
        FootlightError: the obstacle that `find` has returned.
    """
    if not deadline.limits_patience:
        yield
        return
    limit, obstacles = asyncio.timeout(None), list[FootlightError]()
    watching = asyncio.create_task(_end_at_obstacle(page, deadline, find, limit, obstacles))
    try:
        async with limit:
            yield
    except TimeoutError:
        if not (limit.expired() and obstacles):
            raise
        raise obstacles[0] from None
    finally:
        watching.cancel()


async def _end_at_obstacle(
    page: Page,
    deadline: Deadline,
    find: ObstacleFinder,
    limit: asyncio.Timeout,
    obstacles: list[FootlightError],
) -> None:
    """End `limit` when the wait for the element is over and an obstacle is found."""
    began = time.monotonic()
    await asyncio.sleep(deadline.element_ms / 1000)
    while not (obstacle := await _find_obstacle_unless_busy(page, began, find)):  # noqa: ASYNC110 - no event
        await asyncio.sleep(RETRY_SECONDS)
    obstacle.suggestion = f"{obstacle.suggestion} {deadline.patience_advice}"
    obstacles.append(obstacle)
    limit.reschedule(asyncio.get_running_loop().time())


async def _find_obstacle_unless_busy(page: Page, began: float, find: ObstacleFinder) -> FootlightError | None:
    """Return the obstacle, or None if the page is busy or navigates. The operation may just succeed."""
    if page.has_pending_navigation_since(began):
        return None
    if page.document_request is not None or not await page.responds(PROMPT_SECONDS):
        return None
    try:
        obstacle = await find()
    except FootlightError as error:
        obstacle = error
    except Error:
        return None
    if obstacle is not None:
        await asyncio.sleep(DONE_SECONDS)
    return obstacle
