"""Scripts of our own in a page: in its world, or apart from it where the page lets none run there.

A page may take `eval` away from itself, as hardened extensions do, and no script of Playwright's runs in its
world then. In a world of its own it does (`apart.js`); that costs one try, and only pages that are so.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from footlight.browser._playwright import CONTEXT_LOST, Error, PlaywrightTimeout, is_closed

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Frame, Locator, Page, Playwright

__all__ = ["find_element", "register_scripts", "run", "run_about", "run_about_all"]

_ENGINE = "footlight-apart"

T = TypeVar("T")

_keys = itertools.count(1)


async def register_scripts(playwright: Playwright) -> None:
    """Before any page is made."""
    source = Path(__file__).with_name("apart.js")
    await playwright.selectors.register(_ENGINE, path=source, content_script=True)


async def run(within: Page | Frame, script: str, argument: Any = None) -> Any:
    """What a script says of a document: a function gets the argument."""

    async def apart() -> Any:
        return _read(await within.get_attribute(_query(script, argument), "v", timeout=0))

    return await _or_apart(lambda: within.evaluate(script, argument), apart)


async def run_about(element: Locator, script: str, argument: Any = None, *, timeout_ms: float) -> Any:
    """What a function says of an element, when that is there."""

    async def apart() -> Any:
        asked = element.locator(_query(script, argument))
        return _read(await asked.get_attribute("v", timeout=timeout_ms))

    return await _or_apart(lambda: element.evaluate(script, argument, timeout=timeout_ms), apart)


async def run_about_all(found: Locator, script: str, argument: Any = None, *, by_handle: bool = False) -> Any:
    """What a function says of all elements that are there now, which it gets as a list.

    `by_handle` is for selectors that the page's world does not know.
    """

    async def here() -> Any:
        if not by_handle:
            return await found.evaluate_all(script, argument)
        elements = await found.element_handles()
        asked = f"(_, [elements, argument]) => ({script})(elements, argument)"
        return await elements[0].evaluate(asked, [elements, argument]) if elements else []

    async def apart() -> Any:
        key = str(next(_keys))
        if not await found.locator(_in_words({"gather": key})).count():
            return await run(found.page, f"argument => ({script})([], argument)", argument)
        asked = found.first.locator(_query(script, argument, over=key))
        return _read(await asked.get_attribute("v", timeout=0))

    return await _or_apart(here, apart)


async def find_element(within: Page | Frame, script: str) -> ElementHandle | None:
    """The element that a function gives back; None where it gives none."""

    async def here() -> ElementHandle | None:
        return (await within.evaluate_handle(script)).as_element()

    async def apart() -> ElementHandle | None:
        found = await within.query_selector(_query(script, None))
        return None if found is None or await found.get_attribute("v") == "null" else found

    return await _or_apart(here, apart)


async def _or_apart(here: Callable[[], Awaitable[T]], apart: Callable[[], Awaitable[T]]) -> T:
    try:
        return await here()
    except PlaywrightTimeout:
        raise
    except Error as error:
        if is_closed(error) or CONTEXT_LOST.search(error.message):
            raise
        try:
            return await apart()
        except Error as again:
            raise again if CONTEXT_LOST.search(again.message) else error from None


def _query(script: str, argument: Any, **more: Any) -> str:
    return _in_words({"script": script.strip().rstrip(";"), "argument": argument, **more})


def _in_words(request: dict[str, Any]) -> str:
    return f"{_ENGINE}={quote(json.dumps(request))}"


def _read(reply: str | None) -> Any:
    return json.loads(reply or "null")
