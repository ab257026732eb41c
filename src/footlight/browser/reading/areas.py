"""Find the areas of elements in a screenshot, in pixels of the image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from footlight.browser.page.element_operations import read_all_elements, read_element
from footlight.browser.page.page_operations import evaluate
from footlight.browser.snapshot.nodes import NodeBox

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["Area", "PictureFrame", "find_areas", "locate_frame"]

MAX_ELEMENTS = 200
"""The maximum number of elements for one selector. Each takes one request to the page."""


class Area(NamedTuple):
    """A rectangle in pixels of an image. It may be outside of the image."""

    x: int
    y: int
    width: int
    height: int


class PictureFrame(NamedTuple):
    """The part of a page in an image: its corner in the viewport, and the image pixels per CSS pixel."""

    x: float
    y: float
    scale: float

    def area(self, box: NodeBox) -> Area:
        """Return the rectangle of all pixels that a box touches."""
        left, top = math.floor((box.x - self.x) * self.scale), math.floor((box.y - self.y) * self.scale)
        right = math.ceil((box.x + box.width - self.x) * self.scale)
        bottom = math.ceil((box.y + box.height - self.y) * self.scale)
        return Area(left, top, right - left, bottom - top)


async def locate_frame(
    page: Page, deadline: Deadline, *, selector: str | None = None, full_page: bool = False
) -> PictureFrame:
    """Return the frame of an image of an element, the whole page or the viewport, at its scroll position."""
    x, y, scale = await evaluate(page, "[scrollX, scrollY, devicePixelRatio]", None, deadline)
    if selector is not None:
        box = await read_element(page, selector, deadline, _find_box)
        return PictureFrame(math.floor(box.x), math.floor(box.y), scale) if box else PictureFrame(0, 0, scale)
    return PictureFrame(-x, -y, scale) if full_page else PictureFrame(0, 0, scale)


async def find_areas(
    page: Page, selectors: Sequence[str], frame: PictureFrame, deadline: Deadline
) -> list[Area]:
    """Return the areas of all matches of the selectors."""
    found: list[Area] = []
    for selector in selectors:
        boxes = await read_all_elements(page, selector, deadline, _find_boxes)
        found += [frame.area(box) for box in boxes if box]
    return found


async def _find_boxes(matches: Locator) -> list[NodeBox | None]:
    return [await _find_box(each) for each in (await matches.all())[:MAX_ELEMENTS]]


async def _find_box(element: Locator, timeout: float | None = None) -> NodeBox | None:
    """Return the box in the page's viewport, also for an element in a frame, or None."""
    box = await element.bounding_box(timeout=timeout)
    return NodeBox(box["x"], box["y"], box["width"], box["height"]) if box else None
