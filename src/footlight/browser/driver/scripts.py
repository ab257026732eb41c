"""Run Footlight's own scripts in a page.

Scripts run in an isolated world (`isolated.js`), which has the browser's original functions. In the page's
main world they would call functions that the page may have replaced: a loop might be endless, and a result
could be forged. The main world is used only if the isolated world cannot run the script.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, is_closed, is_context_lost
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Frame, Locator, Page, Playwright

__all__ = [
    "GETTER",
    "find_element",
    "register_scripts",
    "run",
    "run_about",
    "run_about_all",
]

GETTER = str(Path(__file__).with_name("getter"))
"""The module `getter.js`, with which most selector engines begin."""

_ENGINE = "footlight-apart"

T = TypeVar("T")

GATHERED_MS = 1_000
"""How long a script about matches that existed may wait for the first of them."""
MAX_ARGUMENT = 20_000
"""The maximum length of an argument inside a selector, in characters."""

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
        asked = element.locator(_query(script, argument))
        return _parse_reply(await asked.get_attribute("v", timeout=timeout_ms))

    if isinstance(argument, str) and len(argument) > MAX_ARGUMENT:
        return await run_in_page()
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
        key = str(next(_keys))
        if not await found.locator(_encode({"gather": key})).count():
            return await run(found.page, f"argument => ({script})([], argument)", argument)
        asked = found.first.locator(_query(script, argument, over=key))
        try:
            return _parse_reply(await asked.get_attribute("v", timeout=GATHERED_MS))
        except PlaywrightTimeout:  # The first match was just removed.
            return await run_in_page()

    return await _retry(run_isolated, run_in_page)


async def find_element(within: Page | Frame, script: str) -> ElementHandle | None:
    """Return the element that a function returns, or None.

    It runs in the main world first, so it must not call functions that a page can replace.
    """

    async def run_isolated() -> ElementHandle | None:
        found = await within.query_selector(_query(script, None))
        return None if found is None or await found.get_attribute("v") == "null" else found

    async def run_in_page() -> ElementHandle | None:
        return (await within.evaluate_handle(script)).as_element()

    return await _retry(run_in_page, run_isolated)


async def _retry(first: Callable[[], Awaitable[T]], second: Callable[[], Awaitable[T]]) -> T:
    """Try the second world if the first one cannot run scripts."""
    try:
        return await first()
    except PlaywrightTimeout:
        raise
    except Error as error:
        if is_closed(error) or is_context_lost(error):
            raise
    return await second()


async def _run_isolated(within: Page | Frame, script: str, argument: Any) -> Any:
    return _parse_reply(await within.get_attribute(_query(script, argument), "v", timeout=0))


def _query(script: str, argument: Any, **more: Any) -> str:
    return _encode({"script": script.strip().rstrip(";"), "argument": argument, **more})


def _encode(request: dict[str, Any]) -> str:
    return f"{_ENGINE}={quote(json.dumps(request))}"


def _parse_reply(reply: str | None) -> Any:
    return json.loads(reply or "null")
