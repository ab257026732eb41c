"""Wait until an element has a state, and read its current state."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Literal

from footlight.browser.actions.waiting.quotes import STATE_SECONDS
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout
from footlight.browser.driver.scripts import run
from footlight.browser.page import inspection
from footlight.browser.page.diagnosis import explain_timeout
from footlight.browser.page.element_diagnosis import explain_element_failure
from footlight.browser.page.inspection import INSPECT
from footlight.browser.page.refs import locate, locate_now
from footlight.errors import FootlightError, StaleRefError

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["ElementState", "find_state", "wait_for_element"]


ElementState = Literal["attached", "detached", "visible", "hidden"]


async def wait_for_element(
    page: Page, selector: str, state: ElementState, deadline: Deadline, *, any_match: bool = True
) -> None:
    """Wait until an element has a state. `any_match`: a later match may be the visible one."""
    deadline.stage(f"waiting for {selector} to be {state}")
    must_disappear = state in ("hidden", "detached")
    try:
        found = await (locate_now if must_disappear else locate)(page, selector, deadline)
        if any_match and state == "visible":
            found = found.filter(visible=True)
        await found.first.wait_for(state=state, timeout=deadline.remaining_ms)
    except StaleRefError as error:
        if not (must_disappear and error.is_gone):
            raise
    except PlaywrightTimeout as error:
        elapsed = deadline.elapsed
        now, closest = await find_state(page, selector, deadline.without_patience())
        raise await explain_timeout(
            page,
            f'"{selector}" was not {state} after {elapsed}'
            + (f"; it is {now}" if now else "")
            + (f". Closest on the page: {'; '.join(closest)}" if closest else ""),
            deadline,
            selector=selector,
            state=state,
            now=now,
            page=page.url,
            closest=closest or None,
        ) from error
    except Error as error:
        raise await explain_element_failure(page, error, selector) from error


async def find_state(page: Page, selector: str, deadline: Deadline) -> tuple[ElementState | None, list[str]]:
    """Return the current state of an element, and the most similar elements if it does not exist."""
    with contextlib.suppress(Error, FootlightError, TimeoutError, ValueError):
        async with asyncio.timeout(STATE_SECONDS):
            found = await locate_now(page, selector, deadline)
            if await found.count():
                return "visible" if await found.first.is_visible() else "hidden", []
            reply = await run(page.playwright, INSPECT, inspection.closest_request(selector))
            return "detached", inspection.read_closest(reply)
    return None, []
