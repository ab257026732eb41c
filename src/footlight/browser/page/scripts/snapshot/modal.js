// The focus, and the modal dialog that makes all other content inert.

import {
  checkVisibility,
  closest,
  findAll,
  get,
  getBoundingClientRect,
  isInside,
  isMatch,
  parentOf,
} from "./platform.js";

/** @type {(document: Document) => AnyElement | null} */
export function deepFocus(document) {
  let element = get.activeElement.call(document);
  while (element) {
    const shadow = get.shadowRoot.call(element);
    if (!shadow?.activeElement) break;
    element = shadow.activeElement;
  }
  return element && !["body", "html", "iframe", "frame"].includes(get.localName.call(element)) ? element : null;
}

const HOLDERS = "a[href], button, summary, [role], [tabindex]:not([tabindex^='-'])";

/**
 * Return the control around an empty element that only draws the focus, or the element itself. Libraries move the focus
 * there after a press.
 *
 * @type {(element: AnyElement | null) => AnyElement | null}
 */
export function ownerOfFocus(element) {
  if (!element || !isMatch(element, "div[tabindex^='-']:empty:not([role]), span[tabindex^='-']:empty:not([role])"))
    return element;
  const parent = parentOf(element);
  return (parent && /** @type {AnyElement | null} */ (closest.call(parent, HOLDERS))) || element;
}

/**
 * Return the topmost modal dialog, which makes everything else inert. Its backdrop covers everything, so a hit test
 * finds it.
 *
 * @type {(document: Document) => AnyElement | null}
 */
export function openModal(document) {
  let modals = [];
  try {
    modals = [...findAll(document, "dialog:modal")];
  } catch {
    return null;
  }
  if (modals.length < 2) return modals[0] || null;
  const hit = Document.prototype.elementFromPoint.call(document, 1, 1);
  return (hit && closest.call(hit, "dialog:modal")) || modals[modals.length - 1];
}

/**
 * Return the dialog that covers the page without being opened as a modal dialog. Other dialogs only declare that they
 * are modal. A dialog counts if it covers the page: a hit test in its middle finds it.
 *
 * @type {(document: Document, focused: AnyElement | null, beside: Set<AnyElement>) => AnyElement | null}
 */
export function findDeclaredModal(document, focused, beside) {
  // Searching for the attribute alone is ten times as fast.
  const dialogs = new Set([...findAll(document, "[aria-modal=true]")].filter((one) => isMatch(one, DECLARED_MODAL)));
  for (const inside of [focused, deepHit(document, innerWidth / 2, innerHeight / 2)])
    for (let at = inside; at; at = parentOf(at)) if (isMatch(at, DECLARED_MODAL)) dialogs.add(at);
  const dialog = [...dialogs].reverse().find((one) => isHitInMiddle(document, one));
  if (!dialog) return null;
  for (let at = dialog, outer; (outer = parentOf(at)); at = outer)
    for (const other of get.children.call(outer))
      if (other !== at && isUsableBeside(document, dialog, other, focused)) beside.add(other);
  return dialog;
}

const DECLARED_MODAL =
  "[role~=dialog][aria-modal=true], [role~=alertdialog][aria-modal=true], dialog[open][aria-modal=true]";
const ALWAYS_REACHABLE = "[role=alert], [role=status], [role=log], [aria-live]:not([aria-live=off])";
const SEEN = {
  opacityProperty: true,
  visibilityProperty: true,
  checkOpacity: true,
  checkVisibilityCSS: true,
};

/**
 * Return whether an element can be used although a dialog covers the page. Drop-down lists and notifications are often
 * at the end of the page, apart from the element that they belong to.
 *
 * @type {(document: Document, dialog: AnyElement, other: AnyElement, focused: AnyElement | null) => boolean}
 */
function isUsableBeside(document, dialog, other, focused) {
  if ((focused && isInside(focused, other)) || isMatch(other, ALWAYS_REACHABLE)) return true;
  if (!(dialog.compareDocumentPosition(other) & 4)) return false;
  const drawn = getComputedStyle(other).position === "static" ? other.firstElementChild : other;
  return !!drawn && getComputedStyle(drawn).position !== "static" && isHitInMiddle(document, drawn);
}

/** @type {(document: Document, element: AnyElement) => boolean} */
function isHitInMiddle(document, element) {
  if (checkVisibility && !checkVisibility.call(element, SEEN)) return false;
  const { left, top, right, bottom } = getBoundingClientRect.call(element);
  const [x, y] = [
    (Math.max(left, 0) + Math.min(right, innerWidth)) / 2,
    (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
  ];
  if (x < left || x > right || y < top || y > bottom || left === right || top === bottom) return false;
  const hit = deepHit(document, x, y);
  return hit !== null && isInside(hit, element);
}

/** @type {(document: Document, x: number, y: number) => AnyElement | null} */
function deepHit(document, x, y) {
  let hit = Document.prototype.elementFromPoint.call(document, x, y);
  for (let shadow; hit && (shadow = get.shadowRoot.call(hit)); ) {
    const inner = shadow.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

const TAKEN_AWAY = "[inert], [aria-hidden=true]:has(a[href], button, input, select, textarea)";
const MAX_TAKEN_AWAY = 50;

/** @type {() => AnyElement[]} */
export const findTakenAway = () => [...findAll(document, TAKEN_AWAY)].slice(0, MAX_TAKEN_AWAY);

/**
 * Return whether a large part of the page besides a menu or a list with the focus is inert, or hidden from screen readers.
 * Libraries do so until the menu is closed.
 *
 * @type {(menu: AnyElement, takenAway: AnyElement[]) => boolean}
 */
export function excludesOthers(menu, takenAway) {
  let area = 0;
  for (const other of takenAway) if (!isInside(menu, other)) area += areaInView(getBoundingClientRect.call(other));
  return area > (innerWidth * innerHeight) / 4;
}

/** @type {(box: DOMRect) => number} */
function areaInView({ left, top, right, bottom }) {
  const width = Math.min(right, innerWidth) - Math.max(left, 0);
  const height = Math.min(bottom, innerHeight) - Math.max(top, 0);
  return width > 0 && height > 0 ? width * height : 0;
}

/** @type {(element: AnyElement | null) => Set<AnyElement>} */
export function pathTo(element) {
  const path = new Set();
  for (let at = element; at; at = parentOf(at)) path.add(at);
  return path;
}
