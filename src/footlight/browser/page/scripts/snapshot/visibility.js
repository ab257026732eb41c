// Determines which elements are in the accessibility tree, and which can be focused or clicked.

import { childrenOf, isFirstSummary, SKIPPED } from "./flat_tree.js";
import { linkRole } from "./native_roles.js";
import { attr, factsOf, hasAttr, isSet, pass } from "./pass.js";
import { checkVisibility, getBoundingClientRect, lower, parentOf, words } from "./platform.js";
import { readLive } from "./reads.js";
import { styleOf } from "./styles.js";

/** @import { Facts } from "./pass.js" */

const GONE = 0; // The element and all its content.
export const HIDDEN = 1; // The element itself; its content may be shown.
export const SHOWN = 2;
export const VISIBLE = { visibilityProperty: true, checkVisibilityCSS: true };

/** @type {(facts: Facts) => number} */
export function visibilityOf(facts) {
  if (facts.visibility === undefined) facts.visibility = readLive(computeVisibility, facts);
  return facts.visibility;
}

/** @type {(facts: Facts) => number} */
function computeVisibility(facts) {
  // With options, the call takes 50 % longer.
  const options = pass.styled.isAllVisible ? undefined : VISIBLE;
  if (checkVisibility?.call(facts.element, options)) return SHOWN;
  const { display, visibility } = styleOf(facts);
  if (display === "none" || !display) return GONE;
  if (visibility !== "visible") return HIDDEN;
  if (display === "contents" || !checkVisibility) return SHOWN;
  return GONE; // In the skipped contents of another element.
}

/** @type {(facts: Facts) => boolean} */
export function skipsContents(facts) {
  return pass.styled.may(facts, "skipping") && readLive(isSkipping, facts);
}

/** @type {(facts: Facts) => boolean} */
const isSkipping = (facts) => styleOf(facts).contentVisibility === "hidden";

/**
 * Return whether `aria-hidden` hides the element. Hiding the focused element would leave keyboard users without a
 * position, so browsers do not hide it.
 *
 * @type {(facts: Facts) => boolean}
 */
export function isAriaHidden(facts) {
  if (!facts.aria || !isSet(facts, "aria-hidden")) return false;
  if (facts.tag === "body" || facts.tag === "html") return false;
  return !pass.focusPath.has(facts.element);
}

/** @type {(facts: Facts) => boolean} */
export function isLeftOut(facts) {
  return SKIPPED.has(facts.tag) || visibilityOf(facts) === GONE || isAriaHidden(facts);
}

const CONTROLS = words("button input select textarea");
export const FIELDS = words("input select textarea");

/** @type {(facts: Facts) => boolean} */
export function isFocusable(facts) {
  const { element, tag } = facts;
  if (CONTROLS.has(tag)) return facts.type !== "hidden" && !element.disabled;
  if (tag === "summary") return isFirstSummary(element);
  if (tag === "iframe" || tag === "frame") return true;
  if (!facts.names.length) return false;
  if ((tag === "a" || tag === "area") && linkRole(facts) === "link") return true;
  if ((tag === "audio" || tag === "video") && hasAttr(facts, "controls")) return true;
  return hasTabIndex(facts) || isEditingHost(facts);
}

/** @type {(facts: Facts) => boolean} */
function hasTabIndex(facts) {
  const value = attr(facts, "tabindex");
  return value !== null && /^\s*[-+]?\d/.test(value);
}

const EDITABLE = words("true plaintext-only");

/** @type {(facts: Facts) => boolean} */
export function isEditingHost(facts) {
  const value = attr(facts, "contenteditable");
  if (value === null || !(value === "" || EDITABLE.has(lower(value)))) return false;
  const parent = parentOf(facts.element);
  return !parent || !readLive(isEditable, parent);
}

/** @type {(element: AnyElement) => boolean} */
const isEditable = (element) => element.isContentEditable === true;

const MAX_ICON = 64; // Its longer side in pixels.

/**
 * Return whether an element that is left out is an icon that users can click, although the page hides it from assistive
 * technology. Larger ones are backdrops and the like.
 *
 * @type {(facts: Facts) => boolean}
 */
export function isPressedIcon(facts) {
  if (SKIPPED.has(facts.tag) || visibilityOf(facts) !== SHOWN || !isClickable(facts)) return false;
  return readLive(isSmall, facts.element);
}

/** @type {(element: AnyElement) => boolean} */
function isSmall(element) {
  const { width, height } = getBoundingClientRect.call(element);
  return width > 0 && height > 0 && Math.max(width, height) <= MAX_ICON;
}

const HANDS = words("grab grabbing move pointer");

/**
 * Return the cursor (pointer or hand) that the element has and its parent does not have, or "".
 *
 * @type {(facts: Facts) => string}
 */
function handOf(facts) {
  return pass.styled.may(facts, "pointer") ? readLive(handNow, facts) : "";
}

/** @type {(facts: Facts) => string} */
function handNow(facts) {
  const { cursor } = styleOf(facts);
  const parent = parentOf(facts.element);
  return HANDS.has(cursor) && (!parent || styleOf(factsOf(parent)).cursor !== cursor) ? cursor : "";
}

/**
 * Return whether the mouse can drag the element.
 *
 * @type {(facts: Facts) => boolean}
 */
export function isDraggable(facts) {
  if (attr(facts, "draggable") === "true") return true;
  const hand = handOf(facts);
  return hand !== "" && hand !== "pointer";
}

/**
 * Return whether a style lets clicks pass through the element, as pages do for disabled buttons and days. Fields are
 * excluded: the label that draws such a field receives its clicks.
 *
 * @type {(facts: Facts) => boolean}
 */
export function letsClicksPass(facts) {
  if (FIELDS.has(facts.tag) || !pass.styled.may(facts, "untouchable")) return false;
  return readLive(isUntouchable, facts);
}

/**
 * Return whether no part of a component, and nothing in the element, receives the clicks that pass through it. Dialogs
 * let clicks beside their contents pass.
 *
 * @type {(facts: Facts) => boolean}
 */
function isUntouchable(facts) {
  if (styleOf(facts).pointerEvents !== "none") return false;
  for (const child of childrenOf(facts))
    if (typeof child === "object" && styleOf(child).pointerEvents !== "none") return false;
  const root = Node.prototype.getRootNode.call(facts.element);
  return !(root instanceof ShadowRoot) || styleOf(factsOf(root.host)).pointerEvents === "none";
}

/**
 * Return whether the element has a pointer or hand cursor that its parent does not have, or a handler of its own.
 *
 * @type {(facts: Facts) => boolean}
 */
export function isClickable(facts) {
  if (facts.tag === "html" || facts.tag === "body") return false;
  if (hasAttr(facts, "onclick") || hasAttr(facts, "ondblclick")) return true;
  return handOf(facts) !== "";
}
