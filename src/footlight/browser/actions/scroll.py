"""Scroll a page, or the nearest scrollable box around an element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footlight.browser.driver.scripts import run_about
from footlight.browser.page.element_operations import read_element
from footlight.browser.page.page_operations import evaluate

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["scroll_by"]


async def scroll_by(
    page: Page, x: float, y: float, deadline: Deadline, *, selector: str | None = None
) -> dict[str, float]:
    """Scroll by so many CSS pixels. Return the position afterwards and its limits: `x`, `y`, `maxX`, `maxY`.

    `moved` is 1 where the position is another than before, and 0 otherwise.

    An element that is given with 0 and 0 is scrolled into view.
    """
    if selector is None:
        return await evaluate(page, _SCROLL, [x, y], deadline)
    return await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout_ms: run_about(element, _SCROLL, [x, y], timeout_ms=timeout_ms),
    )


_SCROLL = """(first, second) => {
  const [element, [x, y]] = second === undefined ? [null, first] : [first, second];
  const root = document.scrollingElement || document.documentElement;
  const moves = it => it.scrollWidth > it.clientWidth + 1 || it.scrollHeight > it.clientHeight + 1;
  const scrolls = it => it === root || /(auto|scroll|overlay)/.test(
    getComputedStyle(it).overflowX + getComputedStyle(it).overflowY);
  let box = root;
  const before = element && element.getBoundingClientRect();
  if (element || !moves(root)) {
    let at = element || document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    if (element && !x && !y) element.scrollIntoView({block: 'center', behavior: 'instant'});
    while (at && !(moves(at) && scrolls(at))) at = at.parentElement;
    box = at || root;
  }
  const from = [box.scrollLeft, box.scrollTop];
  box.scrollBy({left: x, top: y, behavior: 'instant'});
  const after = element && element.getBoundingClientRect();
  const hasMoved = before && (before.x !== after.x || before.y !== after.y);
  return {
    x: Math.round(box.scrollLeft), y: Math.round(box.scrollTop),
    maxX: Math.max(0, box.scrollWidth - box.clientWidth),
    maxY: Math.max(0, box.scrollHeight - box.clientHeight),
    moved: Number(hasMoved || from[0] !== box.scrollLeft || from[1] !== box.scrollTop),
  };
}"""
