// Find elements that a mouse can click and Tab cannot reach. Handlers that were added with addEventListener cannot be
// detected from here, so among those elements only the ones with a link's pointer count.

import {
  above,
  allElements,
  describeAll,
  documentBody,
  documentRoot,
  handlerOf,
  isVisible,
  own,
  textOf,
} from "./dom.js";

const MAX_SEARCH_MS = 1500;
const NATIVE =
  ':any-link, button, input, select, textarea, summary, label, option, iframe, audio, video, object, embed, [contenteditable=""], [contenteditable=true]';
const FOCUSABLE = `${NATIVE}, [tabindex]`;
/** Parts of a widget that take the focus in turn, so that all but one have a negative tabindex. */
const ITEMS =
  "[role^=menuitem], [role=option], [role=tab], [role=treeitem], [role=row], [role=gridcell], [role=radio], [role=button], [role=link], [role=checkbox], [role=switch]";
const ROLES = "button, link, checkbox, switch".split(", ");
const MANAGED =
  "[role=listbox], [role=menu], [role=menubar], [role=tree], [role=grid], [role=treegrid], [role=tablist], [role=radiogroup], [role=toolbar], [role=application], [aria-activedescendant]";
const DOES_NOTHING =
  /^[^{]*\{?\s*(return (true|false);?|(event|evt|ev|e)\??\.(stopPropagation|preventDefault)\(\);?|void 0;?)?\s*\}?$/;
const POINTER = "shows the pointer of a link, but Tab does not stop there";

const began = performance.now(),
  handled = /** @type {AnyElement[]} */ ([]),
  pointed = /** @type {AnyElement[]} */ ([]);
for (const each of allElements()) {
  if (performance.now() - began > MAX_SEARCH_MS) break;
  const why = whyClickable(each);
  if (why && isOutOfReach(each)) (why === POINTER ? pointed : handled).push(each);
}
const all = [...handled, ...pointed];

/** @returns {Record<string, any>} */
export function answer() {
  return { certain: handled.length, unreachable: describeAll(all, (each) => whyClickable(each) ?? "") };
}

/** @type {(element: AnyElement) => string | null} */
function whyClickable(element) {
  if (own.matches(element, FOCUSABLE) || element === documentBody() || element === documentRoot()) return null;
  const role = own.getAttribute(element, "role") ?? "";
  if (ROLES.includes(role)) return `has the role ${role}, but Tab does not stop there`;
  const handler = handlerOf(element, "click");
  if (handler !== null && !DOES_NOTHING.test(handler)) return "answers to a click, but Tab does not stop there";
  /** @type {(node: AnyElement | null) => boolean} */
  const isPointed = (node) => node !== null && getComputedStyle(node).cursor === "pointer";
  return isPointed(element) && !isPointed(above(element)) && textOf(element, 100).length < 80 ? POINTER : null;
}

/** @type {(element: AnyElement) => boolean} */
function isOutOfReach(element) {
  const box = own.getBoundingClientRect(element);
  if (!isVisible(element) || box.width < 8 || box.height < 8 || box.width * box.height > (innerWidth * innerHeight) / 2)
    return false;
  if (
    !textOf(element) &&
    !own.matches(element, "img, svg, [aria-label], [title]") &&
    !own.querySelector(element, "img, svg")
  )
    return false;
  for (let each = /** @type {AnyElement | null} */ (element); each; each = above(each)) {
    if (
      own.matches(each, `${MANAGED}, [aria-disabled=true], [aria-hidden=true], [inert], dialog`) ||
      (each !== element && (takesFocus(each) || (handlerOf(each, "click") !== null && each !== documentBody())))
    )
      return false;
  }
  return (
    ![...own.querySelectorAll(element, FOCUSABLE)].some((each) => own.checkVisibility(each)) && !own.shadowRoot(element)
  );
}

/**
 * Return whether a control is around its parts, so that a click in it is one on the control. A part of the page to which
 * only a script or a link moves the focus, as to the main part, is none.
 *
 * @type {(element: AnyElement) => boolean}
 */
function takesFocus(element) {
  const isItem = own.matches(element, ITEMS) && own.hasAttribute(element, "tabindex");
  return (
    own.matches(element, NATIVE) || isItem || (own.matches(element, "[tabindex]") && (own.tabIndex(element) ?? -1) >= 0)
  );
}
