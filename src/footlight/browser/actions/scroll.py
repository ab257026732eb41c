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
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const own = (node, name, type = Element) => getter(type, name).call(node);
  const root = own(document, 'scrollingElement', Document) || own(document, 'documentElement', Document);
  const moves = it => own(it, 'scrollWidth') > own(it, 'clientWidth') + 1
    || own(it, 'scrollHeight') > own(it, 'clientHeight') + 1;
  const boxOf = it => Element.prototype.getBoundingClientRect.call(it);
  const scrolls = it => it === root || /(auto|scroll|overlay)/.test(
    getComputedStyle(it).overflowX + getComputedStyle(it).overflowY);
  let box = root;
  const before = element && boxOf(element);
  if (element || !moves(root)) {
    let at = element || Document.prototype.elementFromPoint.call(document, innerWidth / 2, innerHeight / 2);
    const centre = {block: 'center', behavior: 'instant'};
    if (element && !x && !y) Element.prototype.scrollIntoView.call(element, centre);
    while (at && !(moves(at) && scrolls(at))) at = own(at, 'parentElement', Node);
    box = at || root;
  }
  const place = () => [own(box, 'scrollLeft'), own(box, 'scrollTop')];
  const from = place();
  Element.prototype.scrollBy.call(box, {left: x, top: y, behavior: 'instant'});
  const after = element && boxOf(element);
  const to = place();
  const hasMoved = before && (before.x !== after.x || before.y !== after.y);
  return {
    x: Math.round(to[0]), y: Math.round(to[1]),
    maxX: Math.max(0, own(box, 'scrollWidth') - own(box, 'clientWidth')),
    maxY: Math.max(0, own(box, 'scrollHeight') - own(box, 'clientHeight')),
    moved: Number(hasMoved || from[0] !== to[0] || from[1] !== to[1]),
  };
}"""
