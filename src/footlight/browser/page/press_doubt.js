// Determines whether Playwright would certainly press an element at once.

import { getter } from "../driver/getter.js";
import { getBoundingClientRect, matches, shadowOf } from "./press_places.js";

export const FRAMES = "iframe, frame, object, embed, fencedframe";
export const { contains } = Node.prototype;

const parentElementOf = getter(Node, "parentElement");
const bodyOf = getter(Document, "body");
const rootOf = getter(Document, "documentElement");
const fullscreenOf = getter(Document, "fullscreenElement");

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

// Inputs of these types open no picker, and a press does not have to hit their label.
const PLAIN_INPUTS = new Set("button checkbox email number password radio reset search submit tel text url".split(" "));
const NOT_PLAIN = "form, option, optgroup, select, label, label *, area, summary, [contenteditable]";
const DISABLED = ":disabled, [disabled], [disabled] *, [aria-disabled], [aria-disabled] *, [inert], [inert] *";
const ON_TOP = "dialog:modal, [popover]:popover-open"; // Of a large page, the elements with these names are soon found.
const SCROLL_SNAP = "scrollSnapType";
const NO_TRANSFORM = { transform: "none", translate: "none", rotate: "none", scale: "none", perspective: "none" };
/** @type {Record<string, string>} */
const PLAIN_STYLE = {
  ...NO_TRANSFORM,
  [SCROLL_SNAP]: "none",
  contentVisibility: "visible",
  zoom: "1",
  offsetPath: "none",
};

/**
 * Return why Playwright may find the element not ready, or null if Playwright would certainly find it visible, enabled,
 * stable, in view and hit by the mouse in its middle.
 *
 * @type {(element: Element) => string | null}
 */
export function findDoubt(element) {
  const isAtRest = /** @type {any} */ (globalThis)[Symbol.for("footlight.isAtRest")];
  if (self !== top) return "in a frame";
  if (!(element instanceof HTMLElement) || element.getRootNode() !== document) return "not in the document";
  if (typeof isAtRest !== "function" || !isAtRest()) return "not at rest";
  if (document.hidden || visualViewport?.scale !== 1) return "not shown as it is";
  if (matches.call(element, NOT_PLAIN) || Document.prototype.querySelector.call(document, "marquee")) return "special";
  if (element instanceof HTMLInputElement && !PLAIN_INPUTS.has(element.type)) return "special";
  if (matches.call(element, DISABLED)) return "disabled";
  const isOnTop = fullscreenOf.call(document) || Document.prototype.querySelector.call(document, ON_TOP);
  if (isOnTop) return "something is on top";
  if (!Element.prototype.checkVisibility.call(element, { visibilityProperty: true })) return "not visible";
  return findPlacementDoubt(element);
}

/** @type {(element: Element) => string | null} */
function findPlacementDoubt(element) {
  const boxes = Element.prototype.getClientRects.call(element);
  if (boxes.length !== 1) return "not one box";
  const [box] = boxes;
  if (box.width < 2 || box.height < 2) return "too small";
  if (!isInside(box, { left: 0, top: 0, right: innerWidth, bottom: innerHeight })) return "not in view";
  for (let at = /** @type {Element | null} */ (element); at; at = parentElementOf.call(at)) {
    const style = getComputedStyle(at);
    if (style.position === "fixed" || style.position === "sticky") return `${style.position} position`;
    const special = Object.keys(PLAIN_STYLE).find((name) => /** @type {any} */ (style)[name] !== PLAIN_STYLE[name]);
    if (special) return special;
    const clips = at !== bodyOf.call(document) && at !== rootOf.call(document) && style.overflow !== "visible";
    if (at !== element && clips && !isInside(box, getBoundingClientRect.call(at))) return "clipped";
  }
  const hit = Document.prototype.elementFromPoint.call(document, box.x + box.width / 2, box.y + box.height / 2);
  if (!hit || !contains.call(element, hit)) return "covered";
  return matches.call(hit, FRAMES) || shadowOf.call(hit) ? "special" : null;
}

/** @type {(box: Box, outer: Box) => boolean} */
function isInside(box, outer) {
  return box.left >= outer.left && box.top >= outer.top && box.right <= outer.right && box.bottom <= outer.bottom;
}
