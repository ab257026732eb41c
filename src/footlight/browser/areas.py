"""Where elements are in a picture of their page, in pixels of the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from footlight.browser.snapshot import Box

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Area", "Frame", "areas", "frame_of"]

MOST = 200
"""Elements of one selector. Each is asked for its place."""


class Area(NamedTuple):
    """Pixels of a picture; it may lie outside."""

    x: int
    y: int
    width: int
    height: int


class Frame(NamedTuple):
    """What of a page a picture shows: from this point of the viewport on, `scale` pixels for each of CSS."""

    x: float
    y: float
    scale: float

    def area(self, box: Box) -> Area:
        """Whole pixels, all that a box touches."""
        left, top = math.floor((box.x - self.x) * self.scale), math.floor((box.y - self.y) * self.scale)
        right = math.ceil((box.x + box.width - self.x) * self.scale)
        bottom = math.ceil((box.y + box.height - self.y) * self.scale)
        return Area(left, top, right - left, bottom - top)


async def frame_of(
    page: Page, deadline: Deadline, *, selector: str | None = None, full_page: bool = False
) -> Frame:
    """Of a picture of an element, of the whole page or of the viewport, as the page is scrolled now."""
    x, y, scale = await page.evaluate("[scrollX, scrollY, devicePixelRatio]", None, deadline)
    if selector is not None:
        box = await page.ask(selector, deadline, _box)
        return Frame(math.floor(box.x), math.floor(box.y), scale) if box else Frame(0, 0, scale)
    return Frame(-x, -y, scale) if full_page else Frame(0, 0, scale)


async def areas(page: Page, selectors: Sequence[str], frame: Frame, deadline: Deadline) -> list[Area]:
    """Of all matches. A selector that matches nothing has none."""
    found: list[Area] = []
    for selector in selectors:
        boxes = await page.ask_all(selector, deadline, _boxes)
        found += [frame.area(box) for box in boxes if box]
    return found


async def _boxes(matches: Locator) -> list[Box | None]:
    return [await _box(each) for each in (await matches.all())[:MOST]]


async def _box(element: Locator, timeout: float | None = None) -> Box | None:
    """In the viewport of the page, also of an element in a frame; None where it has none."""
    box = await element.bounding_box(timeout=timeout)
    return Box(box["x"], box["y"], box["width"], box["height"]) if box else None
