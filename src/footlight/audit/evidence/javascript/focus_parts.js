// Tell which elements Tab reaches, and how many presses an element with several parts takes.

import { allElements, own } from "./dom.js";

const FOCUSABLE =
  ':any-link, button, input:not([type=hidden]), select, textarea, summary, iframe, audio[controls], video[controls], [tabindex], [contenteditable=""], [contenteditable=true]';
const WITH_OWN_PARTS =
  "input:is([type=date], [type=time], [type=datetime-local], [type=month], [type=week]), video, audio";
const WITH_DOCUMENT = "iframe, frame, object, embed";
/** More presses than any control of a browser takes. */
const MAX_PRESSES_INSIDE = 30;
const MAX_COUNTED = 40;

/** @type {(element: AnyElement) => boolean} */
export function isTabbable(element) {
  return (
    own.matches(element, FOCUSABLE) &&
    (own.tabIndex(element) ?? -1) >= 0 &&
    !own.matches(element, ":disabled") &&
    !own.closest(element, "[inert]") &&
    own.checkVisibility(element)
  );
}

/**
 * Return whether Tab can stay at the element although it moves the focus on, inside of it.
 *
 * @type {(element: AnyElement) => boolean}
 */
export const hasSeveralParts = (element) =>
  own.matches(element, WITH_OWN_PARTS) || own.matches(element, WITH_DOCUMENT) || isClosed(element);

/**
 * Return whether the element may have a shadow root that cannot be looked into.
 *
 * @type {(element: AnyElement) => boolean}
 */
export const isClosed = (element) => own.localName(element).includes("-") && !own.shadowRoot(element);

/**
 * Return how the focus that has stayed at an element with several parts for this many presses goes on: it is trapped, it
 * is inside of something that cannot be looked into, or it may still leave.
 *
 * @type {(element: AnyElement, presses: number) => "trap" | "inside" | null}
 */
export function outcomeInside(element, presses) {
  const inside = own.matches(element, WITH_DOCUMENT) ? countTabbable(element) : isClosed(element) ? null : 0;
  const most = inside === null ? MAX_PRESSES_INSIDE : own.matches(element, WITH_DOCUMENT) ? 2 * inside + 4 : 0;
  if (presses <= (most || MAX_PRESSES_INSIDE)) return null;
  return inside === null ? "inside" : "trap";
}

/**
 * Return the number of elements in the document of a frame that Tab reaches, or null if it cannot be looked into.
 *
 * @type {(frame: AnyElement) => number | null}
 */
function countTabbable(frame) {
  try {
    const root = /** @type {Document} */ (frame.contentDocument);
    const inside = allElements(root);
    const frames = inside.filter((each) => own.matches(each, WITH_DOCUMENT)).map(countTabbable);
    if (frames.includes(null) || inside.some(isClosed)) return null;
    const count = frames.reduce((sum, each) => (sum ?? 0) + (each ?? 0), inside.filter(isTabbable).length);
    return (count ?? 0) > MAX_COUNTED ? null : count;
  } catch {
    return null;
  }
}

/** What Tab should reach. */
export const tabbable = allElements().filter(isTabbable);
