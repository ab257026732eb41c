"""Finding elements, with an id for each, and describing them again by it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NotRequired, cast

from footlight.browser import inspection, reading
from footlight.browser._playwright import Error
from footlight.browser.deadline import Deadline
from footlight.browser.found import KeptElement
from footlight.browser.inspection import INSPECT, Description
from footlight.browser.scripts import run, run_about_all

if TYPE_CHECKING:
    from footlight.browser.inspection import KeptDescription
    from footlight.browser.page import Page

__all__ = ["FoundElement", "describe", "find", "find_all"]

LONGEST_KEY = 60
"""Keys come from the page, and a page may meddle."""


class FoundElement(Description):
    """An element with its id, which pages that forbid to extend `document` do not let it have."""

    elementId: NotRequired[str]  # noqa: N815 - the wire's name


async def find(page: Page, selector: str, deadline: Deadline) -> FoundElement:
    """The first match; waits for it."""
    request = inspection.describe_request(keep=True)
    found = inspection.description(await reading.inspect(page, selector, request, deadline))
    [element] = await _kept(page, selector, [found])
    return element


async def find_all(page: Page, selector: str, limit: int, deadline: Deadline) -> list[FoundElement]:
    """All matches that are there now."""
    request = inspection.describe_all_request(limit=limit, keep=True)
    found = inspection.descriptions(await reading.inspect_all(page, selector, request, deadline))
    return await _kept(page, selector, found)


async def _kept(page: Page, selector: str, found: list[Description]) -> list[FoundElement]:
    """With their ids, and selectors that lead to them from the page, not from the frame they are in."""
    path = await reading.frame_path(page, selector) if found else ""
    return [_kept_one(page, path, cast("KeptDescription", element)) for element in found]


def _kept_one(page: Page, path: str, described: KeptDescription) -> FoundElement:
    told: dict[str, object] = {**described, "selector": path + described["selector"]}
    key = told.pop("key", None)
    if isinstance(key, str) and len(key) <= LONGEST_KEY:
        told["elementId"] = page.elements.keep(KeptElement(path, key))
    return cast("FoundElement", told)


async def describe(page: Page, element: KeptElement, *, timeout_ms: float) -> Description | None:
    """As it is now; None where it left the page.

    Raises:
        TimeoutError: the page gives no answer.
    """
    request = inspection.describe_kept_request(element.key)
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            if element.path:
                deadline = Deadline.after(timeout_ms)
                frame = await page.locate_now(f"{element.path}:root", deadline)
                reply = await run_about_all(frame, INSPECT, request)
            else:
                reply = await run(page.playwright, INSPECT, request)
        described = inspection.kept_description(reply)
    except (Error, ValueError):  # It is navigating, or closed; or it has replaced what reading it needs.
        return None
    return described and {**described, "selector": element.path + described["selector"]}
