"""Run Footlight's own scripts in a page.

Scripts run in an isolated world (`isolated.js`), which has the browser's original functions. In the page's
main world they would call functions that the page may have replaced: a loop might be endless, and a result
could be forged. The main world is used only if the isolated world cannot run the script.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from footlight.browser.driver.playwright_api import (
    Error,
    PlaywrightTimeout,
    is_closed,
    is_context_lost,
    is_too_large,
)
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Frame, Locator, Page, Playwright

__all__ = [
    "GETTER",
    "TYPED_TEXT",
    "find_about",
    "find_element",
    "register_scripts",
    "run",
    "run_about",
    "run_about_all",
    "run_about_handle",
]

GETTER = str(Path(__file__).with_name("getter"))
"""The module `getter.js`, with which most selector engines begin."""

TYPED_TEXT = str(Path(__file__).with_name("typed_text"))
"""The module `typed_text.js`, for the values of editors. It follows `GETTER`."""

_ENGINE = "footlight-apart"
_FAILED = "Our script failed"

T = TypeVar("T")

LOOK_SECONDS = 0.1
"""How often the main world is searched for an element."""
MATCHES_MS = 2_000
"""How long a script about all matches is first waited for before they are counted again."""
MAX_REQUEST = 20_000
"""Characters of a request, without its script, that may be part of a selector."""

_keys = itertools.count(1)


async def register_scripts(playwright: Playwright) -> None:
    """Register the selector engine. Call this before any page is opened."""
    source = selector_engine(Path(__file__).parent, "isolated")
    await playwright.selectors.register(_ENGINE, source, content_script=True)


async def run(within: Page | Frame, script: str, argument: Any = None) -> Any:
    """Return the result of a script about a document. If it is a function, it receives the argument."""
    return await _retry(
        lambda: _run_isolated(within, script, argument), lambda: within.evaluate(script, argument)
    )


async def run_about(element: Locator, script: str, argument: Any = None, *, timeout_ms: float) -> Any:
    """Wait for the element, and return the result of a function that receives it.

    It runs in the page's main world if the argument is too long for a selector.
    """

    async def run_in_page() -> Any:
        return await element.evaluate(script, argument, timeout=timeout_ms)

    async def run_isolated() -> Any:
        asked = element.locator(_query(script, argument=argument))
        return _parse_reply(await asked.get_attribute("v", timeout=timeout_ms))

    return await _retry(run_isolated, run_in_page)


async def run_about_all(found: Locator, script: str, argument: Any = None, *, by_handle: bool = False) -> Any:
    """Return the result of a function that receives the list of all current matches.

    Use `by_handle` for selectors that are unknown in the page's main world.
    """

    async def run_in_page() -> Any:
        if not by_handle:
            return await found.evaluate_all(script, argument)
        elements = await found.element_handles()
        asked = f"(_, [elements, argument]) => ({script})(elements, argument)"
        return await elements[0].evaluate(asked, [elements, argument]) if elements else []

    async def run_isolated() -> Any:
        wait_ms = MATCHES_MS
        # The count is 0 also if the document is replaced while it is taken.
        while (
            await _gather(found, str(next(_keys))).count() or await _gather(found, str(next(_keys))).count()
        ):
            key = str(next(_keys))
            asked = _gather(found, key).locator(_query(script, argument=argument, over=key))
            with suppress(PlaywrightTimeout):  # All matches were removed, or the page is busy.
                return _parse_reply(await asked.get_attribute("v", timeout=wait_ms))
            wait_ms *= 2
        return await run(found.page, f"argument => ({script})([], argument)", argument)

    return await _retry(run_isolated, run_in_page)


def _gather(found: Locator, key: str | None = None) -> Locator:
    """Return a locator that gathers all matches under a key, or a new one. It finds the first match."""
    return found.locator(_query(gather=key or str(next(_keys))))


async def run_about_handle(element: ElementHandle, script: str) -> Any:
    """Return the result of a function that gets the element."""

    async def run_isolated() -> Any:
        carrier = await element.query_selector(_query(script))
        assert carrier is not None
        return _parse_reply(await carrier.get_attribute("v"))

    return await _retry(run_isolated, lambda: element.evaluate(script))


async def find_about(
    element: Locator, script: str, argument: Any, *, timeout_ms: float
) -> ElementHandle | None:
    """Wait until a function that receives the element returns another element, and return that, or None."""

    async def run_isolated() -> ElementHandle | None:
        found = element.locator(_query(script, argument=argument, finds=True))
        with suppress(PlaywrightTimeout):
            return await found.element_handle(timeout=timeout_ms)
        return None

    async def run_in_page() -> ElementHandle | None:
        ends_at = time.monotonic() + timeout_ms / 1000
        while True:
            found = (await element.evaluate_handle(script, argument, timeout=timeout_ms)).as_element()
            if found is not None or time.monotonic() >= ends_at:
                return found
            await asyncio.sleep(LOOK_SECONDS)

    return await _retry(run_isolated, run_in_page)


async def find_element(within: Page | Frame, script: str) -> ElementHandle | None:
    """Return the element that a function returns, or None."""

    async def run_isolated() -> ElementHandle | None:
        return await within.query_selector(_query(script, finds=True))

    async def run_in_page() -> ElementHandle | None:
        return (await within.evaluate_handle(script)).as_element()

    return await _retry(run_isolated, run_in_page)


async def _retry(first: Callable[[], Awaitable[T]], second: Callable[[], Awaitable[T]]) -> T:
    """Try another world where scripts of the first do not run. What a script throws is the same in both."""
    try:
        return await first()
    except PlaywrightTimeout:
        raise
    except Error as error:
        if is_closed(error) or is_context_lost(error) or is_too_large(error) or _FAILED in error.message:
            raise
    return await second()


async def _run_isolated(within: Page | Frame, script: str, argument: Any) -> Any:
    return _parse_reply(await within.get_attribute(_query(script, argument=argument), "v", timeout=0))


def _query(script: str = "", **request: Any) -> str:
    """Return a selector for `isolated.js`.

    Raises:
        Error: The request is too long for a selector.
    """
    body = json.dumps(request)
    if len(body) > MAX_REQUEST:
        raise Error("The request is too long for a selector")
    return f"{_ENGINE}={quote(body)}&{_encode(script)}"


@lru_cache(maxsize=100)
def _encode(script: str) -> str:
    """Encode a script. This takes 5 ms for the longest ones."""
    return quote(script.strip().rstrip(";"))


def _parse_reply(reply: str | None) -> Any:
    return json.loads(reply or "null")
