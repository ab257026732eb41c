// The scrollable boxes around an element.

import { getter } from "../driver/getter.js";
import { outside } from "./around.js";

const MAX_ABOVE = 50;
/** @type {Map<string, [deltaX: number, deltaY: number]>} */
const SCROLL_KEYS = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ...["ArrowUp", "PageUp", "Home"].map((key) => /** @type {[string, [number, number]]} */ ([key, [0, -1]])),
  ...["ArrowDown", "PageDown", "End", " "].map((key) => /** @type {[string, [number, number]]} */ ([key, [0, 1]])),
]);
const KEYED = "button, input, select, textarea, summary, audio, video";

const scrollingOf = getter(Document, "scrollingElement");
const [heightOf, widthOf] = [getter(Element, "scrollHeight"), getter(Element, "scrollWidth")];
const [innerHeightOf, innerWidthOf] = [getter(Element, "clientHeight"), getter(Element, "clientWidth")];
const [topOf, leftOf] = [getter(Element, "scrollTop"), getter(Element, "scrollLeft")];

/** @typedef {[box: Element, x: number, y: number]} Scroll a box and its scroll position */

/** @type {(element: Element) => Scroll[]} */
export function scrollsAbove(element) {
  /** @type {Scroll[]} */
  const found = [];
  for (let at = /** @type {any} */ (element); at && found.length < MAX_ABOVE; at = outside(at)) {
    if (!(at instanceof Element)) continue;
    if (heightOf.call(at) > innerHeightOf.call(at) || widthOf.call(at) > innerWidthOf.call(at))
      found.push([at, leftOf.call(at), topOf.call(at)]);
  }
  const root = scrollingOf.call(document);
  if (root && !found.some(([box]) => box === root)) found.push([root, leftOf.call(root), topOf.call(root)]);
  return found;
}

/**
 * Return whether the wheel can scroll a box further. It moves the box only after its event.
 *
 * @type {(box: Element, wheel: {deltaX: number, deltaY: number}) => boolean}
 */
export function hasRoom(box, { deltaX, deltaY }) {
  /** @type {(delta: number, at: number, size: number, seen: number) => boolean} */
  const canMove = (delta, at, size, seen) => (delta < 0 ? at > 0 : delta > 0 && at + seen < size);
  return (
    canMove(deltaX, box.scrollLeft, box.scrollWidth, box.clientWidth) ||
    canMove(deltaY, box.scrollTop, box.scrollHeight, box.clientHeight)
  );
}

/**
 * Return whether a key scrolls a box around its target, unless the page prevents it.
 *
 * @type {(event: KeyboardEvent, target: AnyElement) => boolean}
 */
export function scrollsBy(event, target) {
  const by = SCROLL_KEYS.get(event.key);
  if (!by || event.altKey || target.isContentEditable || Element.prototype.matches.call(target, KEYED)) return false;
  const [deltaX, deltaY] = event.key === " " && event.shiftKey ? [0, -1] : by;
  const root = scrollingOf.call(document);
  /** @type {(box: Element) => boolean} */
  const isScroller = (box) => {
    const { overflowX, overflowY } = getComputedStyle(box);
    const overflow = deltaX ? overflowX : overflowY;
    return overflow === "auto" || overflow === "scroll" || (box === root && overflow === "visible");
  };
  return scrollsAbove(target).some((box) => hasRoom(box[0], { deltaX, deltaY }) && isScroller(box[0]));
}
