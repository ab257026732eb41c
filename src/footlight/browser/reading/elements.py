"""Find elements, give each an id, and describe them again by their ids."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NotRequired, cast

from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import run, run_about_all
from footlight.browser.page import inspection
from footlight.browser.page.inspection import INSPECT, Description
from footlight.browser.page.refs import locate_now
from footlight.browser.reading import reads as reading
from footlight.browser.snapshot.element_ids import KeptElement

if TYPE_CHECKING:
    from footlight.browser.page.inspection import KeptDescription
    from footlight.browser.page.page import Page

__all__ = ["FoundElement", "describe", "find", "find_all"]

MAX_KEY_CHARACTERS = 60
"""The maximum length of a key. Keys come from the page, which may manipulate them."""


class FoundElement(Description):
    """An element with its id. There is no id if the page does not allow `document` to be extended."""

    elementId: NotRequired[str]  # noqa: N815 - the wire's name


async def find(page: Page, selector: str, deadline: Deadline) -> FoundElement:
    """Wait for the first match and return it."""
    request = inspection.describe_request(keep=True)
    found = inspection.read_description(await reading.inspect(page, selector, request, deadline))
    [element] = await _store_elements(page, selector, [found])
    return element


async def find_all(page: Page, selector: str, limit: int, deadline: Deadline) -> list[FoundElement]:
    """Return the current matches."""
    request = inspection.describe_all_request(limit=limit, keep=True)
    found = inspection.read_descriptions(await reading.inspect_all(page, selector, request, deadline))
    return await _store_elements(page, selector, found)


async def _store_elements(page: Page, selector: str, found: list[Description]) -> list[FoundElement]:
    """Add ids, and make the selectors valid in the whole page instead of in the element's frame."""
    path = await reading.frame_path(page, selector) if found else ""
    return [_store_element(page, path, cast("KeptDescription", element)) for element in found]


def _store_element(page: Page, path: str, described: KeptDescription) -> FoundElement:
    described_element: dict[str, object] = {**described, "selector": path + described["selector"]}
    key = described_element.pop("key", None)
    if isinstance(key, str) and len(key) <= MAX_KEY_CHARACTERS:
        described_element["elementId"] = page.element_ids.keep(KeptElement(path, key))
    return cast("FoundElement", described_element)


async def describe(page: Page, element: KeptElement, *, timeout_ms: float) -> Description | None:
    """Describe the element in its current state, or return None if it has left the page.

    Raises:
        TimeoutError: the page does not respond.
    """
    request = inspection.describe_kept_request(element.key)
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            if element.path:
                deadline = Deadline.after(timeout_ms)
                frame = await locate_now(page, f"{element.path}:root", deadline)
                reply = await run_about_all(frame, INSPECT, request)
            else:
                reply = await run(page.playwright, INSPECT, request)
        described = inspection.read_kept_description(reply)
    except (Error, ValueError):  # The page navigates or is closed, or has replaced functions that are needed.
        return None
    return described and {**described, "selector": element.path + described["selector"]}
