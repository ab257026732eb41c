// Determines whether Playwright would certainly press an element at once.

import { getter } from "../driver/getter.js";
import { centerOf, getBoundingClientRect, matches, shadowOf } from "./press_places.js";

export const FRAMES = "iframe, frame, object, embed, fencedframe";
export const { contains } = Node.prototype;

const parentElementOf = getter(Node, "parentElement");
const bodyOf = getter(Document, "body");
const rootOf = getter(Document, "documentElement");
const fullscreenOf = getter(Document, "fullscreenElement");
const innerWidthOf = getter(Element, "clientWidth");
const leftBorderOf = getter(Element, "clientLeft");
const innerHeightOf = getter(Element, "clientHeight");
const topBorderOf = getter(Element, "clientTop");

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
  const box = pressedBox(element);
  if (!box) return "not one box";
  const root = rootOf.call(document);
  const isBodyOpen = getComputedStyle(root).overflow === "visible"; // Then the viewport clips instead of the body.
  const own = getComputedStyle(element);
  const meant = [box, getBoundingClientRect.call(element)].map((each) => widen(each, own, "scrollMargin", 1));
  const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  for (let at = /** @type {Element | null} */ (element); at; at = parentElementOf.call(at)) {
    const style = getComputedStyle(at);
    if (style.position === "fixed" || style.position === "sticky") return `${style.position} position`;
    const special = Object.keys(PLAIN_STYLE).find((name) => /** @type {any} */ (style)[name] !== PLAIN_STYLE[name]);
    if (special) return special;
    const clips = at !== element && style.overflow !== "visible" && !(isBodyOpen && at === bodyOf.call(document));
    const outer = at === root || clips ? widen(at === root ? view : innerBox(at), style, "scrollPadding", -1) : null;
    if (outer && !meant.every((each) => isInside(each, outer))) return "not in view";
  }
  const { x, y } = centerOf(box);
  const hit = Document.prototype.elementFromPoint.call(document, x, y);
  if (!hit || !contains.call(element, hit)) return "covered";
  return matches.call(hit, FRAMES) || shadowOf.call(hit) ? "special" : null;
}

/**
 * Return the box in whose middle Playwright presses an element, or null if it has several or a tiny one. Of an inline
 * element, this is the first box of its content, such as the picture in a link, and not the box of its line.
 *
 * @type {(element: Element) => DOMRect | null}
 */
export function pressedBox(element) {
  const boxes = Element.prototype.getClientRects.call(element);
  if (boxes.length !== 1 || !isLarge(boxes[0])) return null;
  const isInline = !innerWidthOf.call(element) && !innerHeightOf.call(element);
  if (!isInline) return boxes[0];
  if (shadowOf.call(element) || element.localName.includes("-")) return null;
  const hasMarker = getComputedStyle(element).display !== "inline";
  if (hasMarker || getComputedStyle(element, "::before").content !== "none") return null;
  const content = Document.prototype.createRange.call(document);
  content.selectNodeContents(element);
  const [first, ...others] = content.getClientRects();
  const isOne = first && isLarge(first) && others.every((each) => isInside(each, first) && isInside(first, each));
  return isOne ? first : null;
}

/** @type {(box: DOMRect) => boolean} */
const isLarge = ({ width, height }) => width >= 2 && height >= 2;

/**
 * Return the part of an element in which its content is visible: without borders and scroll bars.
 *
 * @type {(element: any) => Box}
 */
function innerBox(element) {
  const { left, top, right, bottom } = getBoundingClientRect.call(element);
  const [start, above] = [leftBorderOf.call(element), topBorderOf.call(element)];
  return {
    left: left + start,
    top: top + above,
    right: right - (element.offsetWidth - innerWidthOf.call(element) - start),
    bottom: bottom - (element.offsetHeight - innerHeightOf.call(element) - above),
  };
}

/**
 * Return a box that is wider by the scroll margin or the scroll padding of a style, or narrower if `sign` is -1. It is
 * inside no other one, and no other one inside it, if that is no length.
 *
 * @type {(box: Box, style: any, property: "scrollMargin" | "scrollPadding", sign: 1 | -1) => Box}
 */
function widen({ left, top, right, bottom }, style, property, sign) {
  /** @type {(side: string) => number} */
  const size = (side) => sign * Number(style[property + side].replace(/^auto$|px$/, ""));
  return {
    left: left - size("Left"),
    top: top - size("Top"),
    right: right + size("Right"),
    bottom: bottom + size("Bottom"),
  };
}

/** @type {(box: Box, outer: Box) => boolean} */
function isInside(box, outer) {
  return box.left >= outer.left && box.top >= outer.top && box.right <= outer.right && box.bottom <= outer.bottom;
}
