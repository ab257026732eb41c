// Points of the viewport, and the elements that a press at a point hits.

import { getter } from "../driver/getter.js";

export const shadowOf = getter(Element, "shadowRoot");
export const { closest, getAttribute, getBoundingClientRect, matches } = Element.prototype;

/** @typedef {{ x: number, y: number }} Point */

export const INTERACTIVE = `a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex],
  [role=button], [role=link]`;

/** @type {(box: DOMRect) => Point} */
export const centerOf = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** @type {(element: Element) => Point} */
export const middleOf = (element) => centerOf(getBoundingClientRect.call(element));

/** @type {(point: Point) => Element | null} */
export function hitAt({ x, y }) {
  /** @type {Element | null} */
  let hit = null;
  for (let root = /** @type {Document | ShadowRoot | null} */ (document); root; root = shadowOf.call(hit)) {
    let found = (root === document ? Document.prototype.elementFromPoint : root.elementFromPoint).call(root, x, y);
    // At a text that is in a slot, Chromium returns the host of the shadow root first.
    if (found && found === hit) [found] = /** @type {ShadowRoot} */ (root).elementsFromPoint(x, y);
    if (!found || found === hit) break;
    hit = found;
  }
  return hit;
}

/** @type {(element: Element) => boolean} */
export function hasBox(element) {
  const box = getBoundingClientRect.call(element);
  return box.width > 0 && box.height > 0;
}

/** @type {(element: Element) => Element | null} */
export function hitInView(element) {
  scrollToPoint(middleOf(element), element);
  return hitAt(middleOf(element));
}

/**
 * Scroll an element into view if this point of it is outside of the viewport, to where Playwright would scroll it.
 *
 * @type {(point: Point, element: Element) => void}
 */
export function scrollToPoint({ x, y }, element) {
  if (x >= 0 && y >= 0 && x < innerWidth && y < innerHeight) return;
  const { left, top, right, bottom } = getBoundingClientRect.call(element);
  const inline = right > 0 && left < innerWidth ? "nearest" : "center";
  const block = bottom > 0 && top < innerHeight ? "nearest" : "center";
  element.scrollIntoView({ block, inline, behavior: "instant" });
}

const PLACES = [0.5, 0.25, 0.75, 0.1, 0.9, 0.03, 0.97];

/**
 * Return points of the visible part of a box, nearest to its middle first.
 *
 * @type {(box: DOMRect) => Point[]}
 */
export function placesIn(box) {
  const [left, top] = [Math.max(box.left, 0), Math.max(box.top, 0)];
  const [width, height] = [Math.min(box.right, innerWidth) - left, Math.min(box.bottom, innerHeight) - top];
  if (width <= 0 || height <= 0) return [];
  const middle = centerOf(box);
  /** @type {(point: Point) => number} */
  const distance = ({ x, y }) => Math.hypot(x - middle.x, y - middle.y);
  return PLACES.flatMap((down) => PLACES.map((across) => ({ x: left + across * width, y: top + down * height }))).sort(
    (one, other) => distance(one) - distance(other),
  );
}
