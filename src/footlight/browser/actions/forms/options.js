// The options of a `select` element, a listbox, or a custom combobox.

import { fieldOf } from "./field.js";
import { ariaName, clean, findByIds, innerName } from "./naming.js";

const PAUSE_MS = 30;

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
 * Wait for the only visible option with this name and return it, or the names of all options.
 *
 * @type {(element: Element, request: [wanted: string, patienceMs: number]) => Promise<Element | string[]>}
 */
export async function findOption(element, [wanted, patienceMs]) {
  const until = performance.now() + patienceMs;
  for (;;) {
    const options = optionsOf(element);
    const found = options.filter((option) => isShown(option) && nameOf(option, element) === clean(wanted));
    if (found.length === 1) return found[0];
    if (performance.now() >= until) return options.map((option) => nameOf(option, element));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
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
