// The part of the page that users press instead of a field that is hidden or covered by its own drawing.

import { getter } from "../driver/getter.js";
import { isIn, outside } from "./around.js";
import { getBoundingClientRect, hasBox, hitInView, INTERACTIVE, matches } from "./press_places.js";

const FIELDS = `input, textarea, [role=combobox], [role=checkbox], [role=radio], [role=searchbox], [role=spinbutton],
  [role=switch], [role=textbox]`;
const MAX_PARTS = 50;
const MAX_LEVELS = 5; // Between a field and the element around it and its drawing.
const MAX_HEIGHT = 100; // CSS pixels. What is higher than a field may be a layer over a part of the page.
const MAX_HIDDEN = 2; // CSS pixels: a field of this size is only for screen readers, and may be anywhere near its drawing.

const isConnected = getter(Node, "isConnected");
const { contains: holds, getRootNode } = Node.prototype;
const { querySelectorAll: findAllIn } = Element.prototype;

/**
 * Return the element to press. If a label or the drawing of a field hides it, that is pressed, as users do.
 *
 * @type {(element: Element) => Element}
 */
export function pressTarget(element) {
  // A component may let clicks pass through a control in its shadow root, or cover it, and handle them itself.
  const isField = matches.call(element, FIELDS) || getRootNode.call(element) instanceof ShadowRoot;
  if (!isField || matches.call(element, ":disabled") || !isConnected.call(element)) return element;
  if (canBeHit(element)) return element;
  if (/** @type {AnyElement} */ (element).editContext) return findEditor(element);
  const isLabelled =
    element instanceof HTMLButtonElement ||
    (element instanceof HTMLInputElement && (element.type === "checkbox" || element.type === "radio"));
  const label = isLabelled
    ? [...(element.labels || [])].find((one) => hasBox(one) || one.querySelector("*"))
    : undefined;
  const own = label && holds.call(label, element) ? findPart(label, element) : null;
  return own || findDrawing(element) || (label && findPart(label, element)) || findScrolled(element) || element;
}

/**
 * Return the nearest element with a size around the field of an editor, which has none.
 *
 * @type {(field: Element) => Element}
 */
function findEditor(field) {
  let at = /** @type {any} */ (field);
  while (at && !(at instanceof Element && hasBox(at))) at = outside(at);
  return at || field;
}

/** @type {(element: Element) => boolean} */
function canBeHit(element) {
  if (!hasBox(element)) return false;
  const hit = hitInView(element);
  return !hit || isIn(hit, element);
}

/**
 * Return the label or a part of it that a press in its middle hits, and no other control in it, such as a link.
 *
 * @type {(label: Element, toggle: Element) => Element | null}
 */
function findPart(label, toggle) {
  const parts = [label, ...Array.from(findAllIn.call(label, "*")).slice(0, MAX_PARTS)];
  return parts.find((part) => hasBox(part) && reachesToggle(part, label, toggle)) || null;
}

/** @type {(part: Element, label: Element, toggle: Element) => boolean} */
function reachesToggle(part, label, toggle) {
  const hit = hitInView(part);
  if (!hit || !isIn(hit, part)) return false;
  for (let at = /** @type {any} */ (hit); at !== label; at = outside(at))
    if (at !== toggle && at instanceof Element && matches.call(at, INTERACTIVE)) return false;
  return true;
}

/**
 * Return the drawing of a field that a bar at the edge of the viewport covered, or null. The field is in the middle now.
 *
 * @type {(field: Element) => Element | null}
 */
function findScrolled(field) {
  if (!hasBox(field)) return null;
  field.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
  return canBeHit(field) ? null : findDrawing(field);
}

/**
 * Return what a press hits in the nearest element around a field, if that holds no other control and its cursor shows
 * that it can be clicked. Libraries draw their fields in such elements, over or instead of the `input`.
 *
 * @type {(field: Element) => Element | null}
 */
function findDrawing(field) {
  let outer = /** @type {any} */ (outside(field));
  for (let level = 0; outer && level < MAX_LEVELS; outer = outside(outer)) {
    if (!(outer instanceof Element) || !hasBox(outer)) continue;
    level += 1;
    if (getBoundingClientRect.call(outer).height > MAX_HEIGHT || hasOtherControl(outer, field)) return null;
    const hit = hitInView(isDrawn(field) ? field : outer);
    if (!hit || !isIn(hit, outer)) continue;
    // The page may draw the parts of the drawing anew when the mouse is over them.
    if (!isDrawn(field) && isClicked(outer)) return outer;
    return isClicked(hit) ? hit : null;
  }
  return null;
}

/** @type {(field: Element) => boolean} */
function isDrawn(field) {
  const { width, height } = getBoundingClientRect.call(field);
  return width > MAX_HIDDEN && height > MAX_HIDDEN;
}

/**
 * Return whether there is a control in an element around a field other than this field, the button that opens its list
 * and what nobody can reach, such as an input that only submits the value.
 *
 * @type {(outer: Element, field: Element) => boolean}
 */
const hasOtherControl = (outer, field) =>
  [...findAllIn.call(outer, INTERACTIVE)].some(
    (each) =>
      each !== field &&
      !holds.call(each, field) &&
      !opensList(each, field) &&
      !matches.call(each, "[aria-hidden=true][tabindex^='-']"),
  );

const LISTS = "[aria-haspopup=listbox], [aria-haspopup=tree], [aria-haspopup=grid], [aria-haspopup=dialog]";

/** @type {(control: Element, field: Element) => boolean} */
const opensList = (control, field) => matches.call(field, "[role=combobox]") && matches.call(control, LISTS);

/** @type {(hit: Element) => boolean} */
const isClicked = (hit) =>
  /^(pointer|text)$/.test(getComputedStyle(hit).cursor) && getBoundingClientRect.call(hit).height <= MAX_HEIGHT;
