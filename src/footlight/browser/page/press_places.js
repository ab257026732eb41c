// Where a press at a point of the viewport lands.

import { getter } from "../driver/getter.js";

export const shadowOf = getter(Element, "shadowRoot");
export const { getBoundingClientRect, matches } = Element.prototype;

/** @typedef {{ x: number, y: number }} Point */

export const INTERACTIVE = "a[href], button, input, select, textarea, summary, [tabindex], [role=button], [role=link]";

/** @type {(element: Element) => Point} */
export function middleOf(element) {
  const box = getBoundingClientRect.call(element);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** @type {(point: Point) => Element | null} */
export function hitAt({ x, y }) {
  /** @type {Element | null} */
  let hit = null;
  for (let root = /** @type {Document | ShadowRoot | null} */ (document); root; root = shadowOf.call(hit)) {
    const found = (root === document ? Document.prototype.elementFromPoint : root.elementFromPoint).call(root, x, y);
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
  const { x, y } = middleOf(element);
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight)
    element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
  return hitAt(middleOf(element));
}
