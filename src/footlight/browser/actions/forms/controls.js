// The state of checkboxes, selects and file inputs.

import { fieldOf } from "./field.js";

/** @type {(element: Element) => boolean} */
export function isMixed(element) {
  const box = fieldOf(element);
  return box instanceof HTMLInputElement ? box.indeterminate : box.getAttribute("aria-checked") === "mixed";
}

/**
 * Return the options of the only `select` element, or null for another element.
 *
 * @type {(elements: [Element]) => { value: string, label: string, disabled: boolean }[] | null}
 */
export function listOptions([element]) {
  const select = fieldOf(element);
  if (!(select instanceof HTMLSelectElement)) return null;
  return Array.from(select.options, (option) => ({
    value: option.value,
    label: option.label,
    disabled: option.matches(":disabled"),
  }));
}

/** @type {(element: Element) => string[] | null} */
export function listSelected(element) {
  const select = fieldOf(element);
  if (!(select instanceof HTMLSelectElement)) return null;
  return Array.from(select.selectedOptions, (option) => option.value);
}

/**
 * Return what a file input accepts, or null for another element.
 *
 * @type {(element: Element) => string | null}
 */
export function takesFiles(element) {
  const input = fieldOf(element);
  if (!(input instanceof HTMLInputElement) || input.type !== "file") return null;
  if (input.matches(":disabled")) return "nothing";
  if (input.webkitdirectory) return "a folder";
  return input.multiple ? "files" : "one file";
}
