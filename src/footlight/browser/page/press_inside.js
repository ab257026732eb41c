// Controls inside another control, such as the delete button in a card that is a link: a press of the outer control
// must not reach the inner one.

import { getter } from "../driver/getter.js";
import { isIn, outside } from "./around.js";
import { getBoundingClientRect, hitAt, hitInView, INTERACTIVE, matches, placesIn } from "./press_places.js";

const OUTER = `${INTERACTIVE}, [onclick], [role=option], [role=menuitem], [role=tab], [role=treeitem], [role=row]`;
const INNER = `a[href], button, input, select, textarea, summary, [role=button], [role=link], [role=switch], [onclick],
  [role=treeitem], [role=menuitem]`;

const contentOf = getter(Node, "textContent");
const { querySelectorAll } = Element.prototype;

/**
 * Return the control between a node and the outer control, or null.
 *
 * @type {(node: unknown, outer: Element) => Element | null}
 */
export function findControlInside(node, outer) {
  if (!node || node === outer || !isIn(node, outer) || !isControlItself(outer)) return null;
  for (let at = /** @type {any} */ (node); at && at !== outer; at = outside(at))
    if (at instanceof Element && matches.call(at, INNER)) return at;
  return null;
}

/**
 * Return whether an element is a control with more content to press than the only control in it.
 *
 * @type {(element: Element) => boolean}
 */
function isControlItself(element) {
  if (element instanceof HTMLLabelElement || !matches.call(element, OUTER)) return false;
  const inner = querySelectorAll.call(element, INNER);
  return inner.length !== 1 || lengthOf(element) > lengthOf(inner[0]);
}

/** @type {(node: Node) => number} */
function lengthOf(node) {
  return (contentOf.call(node) || "").trim().length;
}

/**
 * Return the point where to press a control if a press in its middle would reach another control in it, relative to its
 * padding box. Null if the middle belongs to the control, or no such point exists.
 *
 * @type {(element: Element) => import("./press_places.js").Point | null}
 */
export function findOwnPoint(element) {
  if (!isControlItself(element) || !querySelectorAll.call(element, INNER).length) return null;
  if (!findControlInside(hitInView(element), element)) return null;
  const box = getBoundingClientRect.call(element);
  const isOwn = (/** @type {import("./press_places.js").Point} */ point) => {
    const hit = hitAt(point);
    return isIn(hit, element) && !findControlInside(hit, element);
  };
  const own = placesIn(box).find(isOwn);
  const style = getComputedStyle(element);
  const border = { x: Number.parseFloat(style.borderLeftWidth), y: Number.parseFloat(style.borderTopWidth) };
  return own ? { x: own.x - box.left - border.x, y: own.y - box.top - border.y } : null;
}
