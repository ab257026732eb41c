// The options of a `select` element, a listbox, or a custom combobox.

import { fieldOf } from "./field.js";
import { ariaName, clean, findByIds, innerName } from "./naming.js";

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
 * Return the only visible option with this name, or null.
 *
 * @type {(element: Element, wanted: string) => Element | null}
 */
export function findOption(element, wanted) {
  const found = optionsOf(element).filter((option) => isShown(option) && nameOf(option, element) === clean(wanted));
  return found.length === 1 ? found[0] : null;
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

/** @type {(element: Element) => Element[]} */
function optionsOf(element) {
  return listsOf(element).flatMap((list) => Array.from(list.querySelectorAll("[role=option]")));
}

/** @type {(element: Element) => Element[]} */
function listsOf(element) {
  if (element.getAttribute("role") === "listbox") return [element];
  const own = ["aria-controls", "aria-owns"].flatMap((key) => findByIds(element, element.getAttribute(key)));
  if (own.length) return own;
  const open = Array.from(element.ownerDocument.querySelectorAll("[role=listbox]")).filter(isShown);
  return open.length === 1 ? open : [];
}

/** @type {(option: Element, field: Element) => string} */
function nameOf(option, field) {
  return ariaName(option, field) || innerName(option);
}

/** @type {(element: Element) => boolean} */
function isShown(element) {
  return element.getClientRects().length > 0;
}
