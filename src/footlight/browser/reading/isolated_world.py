"""Run scripts in an isolated world of a page, which the page can neither read nor change. Chromium only.

The world has its own globals and prototypes over the same document. Changes that a script makes to them do
not reach the page, and events that it would dispatch are suppressed, so that listeners of the page do not
run.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.playwright_connection import send
from footlight.browser.driver.scripts import run_about
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.element_operations import read_element
from footlight.errors import InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["IsolatedWorld", "ScriptFailedError", "find_path", "open_isolated_world"]

OPEN_SECONDS = 5.0
CLOSE_SECONDS = 1.0
MAX_FAILURE = 300
MAX_STEPS = 1_000

_NO_EVENTS = "EventTarget.prototype.dispatchEvent = () => true; HTMLElement.prototype.focus = () => {}; 0"

_FIND_PATH, _WALK = (
    page_function(Path(__file__).parent / "scripts", ["frame_path"], name)
    for name in ("findPath", "walkPath")
)


class ScriptFailedError(Exception):
    """The script threw an exception, or its result has no JSON form."""


class IsolatedWorld:
    """Calls functions in an isolated world of the main frame."""

    def __init__(self, cdp: CDPSession, context_id: int) -> None:
        self._cdp = cdp
        self._context_id = context_id

    async def call(self, function: str, *, seconds: float, about: ElementPath | None = None) -> Any:
        """Call a function without arguments and return its value as JSON.

        In the script, the name `ONLY` is the element at the path `about`, or null.

        Raises:
            ScriptFailedError: the function failed.
            TimeoutError: it took longer than `seconds`.
            Error: the document or the page is gone.
        """
        only = f"({_WALK})({json.dumps(about)})" if about is not None else "null"
        async with asyncio.timeout(seconds):
            reply = await send(
                self._cdp,
                "Runtime.evaluate",
                {
                    "expression": f"(async () => {{ const ONLY = {only}; return ({function})(); }})()",
                    "contextId": self._context_id,
                    "awaitPromise": True,
                    "returnByValue": True,
                    "timeout": seconds * 1000,
                },
            )
        if details := reply.get("exceptionDetails"):
            thrown = details.get("exception", {}).get("description") or details.get("text") or "an exception"
            raise ScriptFailedError(str(thrown)[:MAX_FAILURE])
        return reply["result"].get("value")


ElementPath = list[tuple[str, int]]
"""Steps from the document to an element, also through shadow roots and frames of the same site."""


async def find_path(page: Page, selector: str, deadline: Deadline) -> ElementPath:
    """Return the path to the first match.

    Raises:
        FootlightError: the element does not exist, or the page does not respond.
    """

    async def read(element: Locator, timeout_ms: float) -> ElementPath:
        return await run_about(element, _FIND_PATH, timeout_ms=timeout_ms)

    return await read_element(page, selector, deadline, read)


@contextlib.asynccontextmanager
async def open_isolated_world(page: Page) -> AsyncGenerator[IsolatedWorld]:
    """Yield a new isolated world of the page's current document.

    Raises:
        InvalidParameterError: the browser is not Chromium.
        FootlightError: the page is gone.
    """
    if page.session.engine != "chromium":
        engine = page.session.engine
        raise InvalidParameterError(f"this tool needs Chromium; this session runs {engine}", engine=engine)
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            cdp = await page.playwright.context.new_cdp_session(page.playwright)
            tree = await send(cdp, "Page.getFrameTree")
            made = await send(
                cdp,
                "Page.createIsolatedWorld",
                {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "footlight-reading"},
            )
            world = IsolatedWorld(cdp, made["executionContextId"])
            await world.call(f"() => {{ {_NO_EVENTS} }}", seconds=OPEN_SECONDS)
    except Error as error:
        raise await explain_page_failure(page, error) from error
    try:
        yield world
    finally:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await cdp.detach()
