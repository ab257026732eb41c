// The options of a `select` element, a listbox, or a custom combobox.

import { fieldOf } from "./field.js";
import { findInFlatTree } from "./flat_tree.js";
import { ariaName, clean, findByIds, innerName } from "./naming.js";

const MAX_POPUP_LEVELS = 3;
const MAX_DRAWN = 1_000;
const MIN_SCROLLED = 20; // Pixels by which lists are higher that draw only a part of their options.
const MAX_SHOWN = 2_000; // Characters by which the drawn options are compared.

/**
 * Return the labels and values of the options of a `select` element, or null for another element.
 *
 * @type {(element: Element) => string[] | null}
 */
export function listNames(element) {
  const box = fieldOf(element);
  return box instanceof HTMLSelectElement
    ? Array.from(box.options).flatMap((option) => [option.label, option.value])
    : null;
}

/**
 * Return the only visible option with this name, or null. If the option is only for screen readers, return what is drawn
 * for it.
 *
 * @type {(element: Element, wanted: string) => Element | null}
 */
export function findOption(element, wanted) {
  const name = clean(wanted);
  const found = optionsOf(element).filter((option) => isShown(option) && nameOf(option, element) === name);
  if (!found.length) return findDrawn(element, name);
  // The field may show the chosen option, alone.
  return findOnly(found.length > 1 ? found.filter((option) => option.parentElement?.childElementCount !== 1) : found);
}

/** @type {(found: Element[]) => Element | null} */
const findOnly = (found) => (found.length === 1 ? found[0] : null);

/**
 * Return the only element with this text beside an open list, or null. Libraries with lists that are drawn in part put
 * only some options into a list for screen readers.
 *
 * @type {(element: Element, name: string) => Element | null}
 */
function findDrawn(element, name) {
  for (const list of listsOf(element)) {
    let popup = list.parentElement;
    for (let level = 0; popup && level < MAX_POPUP_LEVELS && !popup.contains(element); level++) {
      const parts = Array.from(popup.querySelectorAll("*")).slice(0, MAX_DRAWN);
      const named = parts.filter((part) => clean(part.textContent) === name && isShown(part) && !list.contains(part));
      const innermost = named.filter((part) => !named.some((other) => other !== part && part.contains(other)));
      if (innermost.length) return findOnly(innermost.filter((part) => !isRefused(part)));
      popup = popup.parentElement;
    }
  }
  return null;
}

/** @type {(element: Element) => string[]} */
export function listOptions(element) {
  return optionsOf(element).map((option) => nameOf(option, element));
}

/** @type {(element: Element) => string[]} */
export function listChosen(element) {
  return optionsOf(element)
    .filter((option) => option.getAttribute("aria-selected") === "true")
    .map((option) => nameOf(option, element));
}

/**
 * Scroll a list to its next options, or first to its top, unless it shows the option with this name: long lists draw only
 * the options in view.
 *
 * Return the texts of the options that were drawn until now, true if one is the option, or null at the end of the list.
 * Nothing is scrolled while the texts equal `last`, those of the last call, because the next options are not drawn yet.
 *
 * @type {(element: Element, request: { wanted: string, last: string | null }) => string | true | null}
 */
export function scrollToOption(element, { wanted, last }) {
  const option = findOption(element, wanted);
  const box = findScrolled(element);
  if (!box) return option ? true : null;
  const shown = (box.textContent ?? "").slice(0, MAX_SHOWN);
  const before = box.scrollTop;
  if (option) {
    // The press would scroll to it, and the list might draw it anew then.
    option.scrollIntoView({ block: "nearest", behavior: "instant" });
    return box.scrollTop === before || shown;
  }
  if (shown === last) return shown;
  box.scrollTo({ top: last === null && before ? 0 : before + box.clientHeight, behavior: "instant" });
  return box.scrollTop === before ? null : shown;
}

/** @type {(element: Element) => Element | null} */
function findScrolled(element) {
  for (const list of listsOf(element)) {
    let popup = list;
    for (let level = 0; level < MAX_POPUP_LEVELS; level++) {
      const parts = [popup, ...popup.querySelectorAll("*")].slice(0, MAX_DRAWN);
      const found = parts.find(isScrolled);
      if (found) return found;
      if (!popup.parentElement || popup.parentElement.contains(element)) break;
      popup = popup.parentElement;
    }
  }
  return null;
}

/** @type {(element: Element) => boolean} */
function isScrolled(element) {
  const { clientHeight, scrollHeight } = element;
  if (clientHeight <= MIN_SCROLLED || scrollHeight - clientHeight <= MIN_SCROLLED) return false;
  return getComputedStyle(element).overflowY !== "visible";
}

/**
 * Return whether a field suggests options for its text.
 *
 * @type {(element: Element) => boolean}
 */
export function suggests(element) {
  return (
    element.getAttribute("aria-expanded") === "true" ||
    ["list", "both"].includes(element.getAttribute("aria-autocomplete") ?? "")
  );
}

/**
 * Return whether the open list of a field shows this option.
 *
 * @type {(element: Element, wanted: string) => boolean}
 */
export function offers(element, wanted) {
  return element.getAttribute("aria-expanded") === "true" && findOption(element, wanted) !== null;
}

// The options of fields that open a menu or a tree. An entry that holds others would be pressed in their middle.
const OTHER_OPTIONS = "[role=menuitemcheckbox], [role=menuitemradio], [role=treeitem]:not(:has([role=treeitem]))";

/** @type {(element: Element) => Element[]} */
function optionsOf(element) {
  return listsOf(element).flatMap((list) => {
    const options = findInFlatTree(list, "[role=option]");
    return options.length || list.getAttribute("role") === "listbox" ? options : findInFlatTree(list, OTHER_OPTIONS);
  });
}

/**
 * Return whether the list of a field is open. Some fields do not say so.
 *
 * @type {(element: Element) => boolean}
 */
export function isOpen(element) {
  return element.getAttribute("aria-expanded") === "true" || ownListsOf(element).some(isShown);
}

/** @type {(element: Element) => Element[]} */
const ownListsOf = (element) =>
  ["aria-controls", "aria-owns"].flatMap((key) => findByIds(element, element.getAttribute(key)));

/** @type {(element: Element) => Element[]} */
function listsOf(element) {
  if (element.getAttribute("role") === "listbox") return [element];
  const own = ownListsOf(element);
  if (own.length) return [...new Set(own)];
  const inside = findInFlatTree(element, "[role=listbox]").filter(isShown);
  if (inside.length) return inside;
  for (const tree of [element.getRootNode(), element.ownerDocument]) {
    const open = findInFlatTree(tree, "[role=listbox]").filter(isShown);
    if (open.length === 1) return open;
  }
  return [];
}

/** @type {(option: Element, field: Element) => string} */
function nameOf(option, field) {
  return ariaName(option, field) || innerName(option);
}

/**
 * Return whether the cursor shows that an element is disabled.
 *
 * @type {(element: Element) => boolean}
 */
const isRefused = (element) => getComputedStyle(element).cursor === "not-allowed";

/** @type {(element: Element) => boolean} */
function isShown(element) {
  return Array.from(element.getClientRects()).some(({ width, height }) => width > 0 && height > 0);
}
