"""Take the screenshot of a page, from which pictures of elements are cut."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.pictures import PageScreenshot
from footlight.audit.evidence.scripts import boxes_of, script
from footlight.audit.findings import ElementBox, Fact
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.errors import MCPConnectionError, MCPError, ToolInvocationError
from footlight.protocol.untrusted_json import an_object, number

__all__ = ["Photograph"]

ATTEMPTS = 3
"""How many screenshots to take of a page that moves while they are taken."""

MAX_HEIGHT = 16_000
"""The maximum height in pixels. Taller screenshots take too long, and browsers leave parts of them out."""


class Photograph:
    """Take a screenshot with the boxes of all described elements, on a stable layout. Runs last."""

    name = "the screenshot"
    every_view = True

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        """Take a screenshot of the whole page, or of the first screen if the page is too tall."""
        try:
            first = await page.evaluate(_boxes())
            height = number(an_object(first).get("height"))
            if height is not None and height <= MAX_HEIGHT:
                return await _take_with_boxes(page, boxes_of(first), full_page=True)
            # Playwright waits for a body before it takes a picture of the whole page.
            why = "it has no body" if height is None else f"it is {height:.0f} px high"
        except MCPConnectionError:
            raise
        except MCPError as error:
            why = str(error)
        less = Fact(topic="page", text=f"Pictures at {view.width} px show the first screen only: {why}")
        before = boxes_of(await page.evaluate(_boxes()))
        return replace(await _take_with_boxes(page, before, full_page=False), facts=[less])


async def _take_with_boxes(
    page: AuditedPage, before: Mapping[int, ElementBox], *, full_page: bool
) -> Collected:
    """Take a screenshot during which no element moved; keep the boxes that did not change otherwise."""
    picture = await _take_screenshot(page, full_page=full_page)
    answer = an_object(await page.evaluate(_boxes(repeats=True)))
    for _ in range(ATTEMPTS - 1):
        if before == boxes_of(answer):
            break
        before = boxes_of(await page.evaluate(_boxes(is_stable=True)))
        picture = await _take_screenshot(page, full_page=full_page)
        answer = an_object(await page.evaluate(_boxes(repeats=True)))
    if not answer.get("forgotten"):
        await page.evaluate(_boxes(forget=True))
    after = boxes_of(answer)
    same = {handle: box for handle, box in after.items() if before.get(handle) == box}
    return Collected(picture=picture, boxes=same)


def _boxes(*, is_stable: bool = False, repeats: bool = False, forget: bool = False) -> str:
    values = {"STABLE": is_stable, "AGAIN": repeats, "FORGET": forget}
    settings = f"const {', '.join(f'{name} = {str(value).lower()}' for name, value in values.items())};"
    return script("boxes", before=settings)


async def _take_screenshot(page: AuditedPage, *, full_page: bool) -> PageScreenshot:
    """Take a screenshot of the page.

    Raises:
        MCPError: the screenshot failed or cannot be read.
    """
    image = await page.screenshot(full_page=full_page)
    try:
        return await asyncio.to_thread(PageScreenshot, image)
    except (
        OSError,
        ValueError,
    ) as error:  # from Pillow, which also refuses images that would fill the memory
        raise ToolInvocationError(
            f"the screenshot cannot be read: {error}", tool_name="screenshot", reason="protocol"
        ) from error
