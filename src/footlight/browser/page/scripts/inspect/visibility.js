// Determines whether an element is visible, and whether it is disabled.

import {
  apply,
  attr,
  boundingRect,
  clientRects,
  firstChild,
  hasAttribute,
  isElement,
  matches,
  member,
  nextSibling,
  nodeType,
  parentOf,
  range,
  rangeAround,
  rangeRects,
  styleOf,
  tagOf,
} from "./platform.js";
import { roleOf } from "./roles.js";
import { asciiLower } from "./text.js";

/** @type {(rects: DOMRectList) => boolean} */
function hasRects(rects) {
  for (let i = 0; i < rects.length; i++) if (rects[i].width > 0 && rects[i].height > 0) return true;
  return false;
}

/** @type {(element: AnyElement) => boolean} */
function contentsVisible(element) {
  for (let node = firstChild(element); node; node = nextSibling(node)) {
    if (isElement(node) && isVisible(node)) return true;
    if (nodeType(node) === 3) {
      rangeAround(range, node);
      if (hasRects(rangeRects(range))) return true;
    }
  }
  return false;
}

/** @type {(element: AnyElement) => boolean} */
export function isRendered(element) {
  const check = member(element, "checkVisibility");
  return check ? apply(check.value, element, []) : clientRects(element).length > 0;
}

/** @type {(element: AnyElement) => boolean} */
export function isVisible(element) {
  const style = styleOf(element);
  if (style.display === "contents") return contentsVisible(element);
  if (!isRendered(element) || style.visibility !== "visible") return false;
  const box = boundingRect(element);
  return box.width > 0 && box.height > 0;
}

/** @type {Lookup<1>} */
const FIELDS = {
  __proto__: null,
  button: 1,
  fieldset: 1,
  input: 1,
  optgroup: 1,
  option: 1,
  select: 1,
  textarea: 1,
};
/** @type {Lookup<1>} */
const NEVER_DISABLED = {
  __proto__: null,
  form: 1,
  generic: 1,
  heading: 1,
  img: 1,
  list: 1,
  listitem: 1,
  none: 1,
  presentation: 1,
};

/**
 * Return why the element is disabled, or "".
 *
 * @type {(element: AnyElement) => string}
 */
export function disabledReason(element) {
  if (FIELDS[tagOf(element)] && matches(element, ":disabled")) {
    return hasAttribute(element, "disabled") ? "disabled" : "inside a disabled group";
  }
  const role = roleOf(element);
  if (!role || NEVER_DISABLED[role]) return "";
  for (let at = /** @type {AnyElement | null} */ (element); at; at = parentOf(at)) {
    const state = asciiLower(attr(at, "aria-disabled"));
    if (state === "true") return "aria-disabled";
    if (state === "false") return "";
  }
  return "";
}
