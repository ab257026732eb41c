// The state of checkboxes, selects and file inputs.

import { fieldOf } from "./field.js";

/**
 * Return whether a checkbox is mixed, or cannot be unticked because it is a radio button. The element may be a part of
 * its label.
 *
 * @type {(element: Element) => "mixed" | "radio" | null}
 */
export function describeToggle(element) {
  const box = fieldOf(Element.prototype.closest.call(element, "label, input, [role]") ?? element);
  if (!(box instanceof HTMLInputElement)) return box.getAttribute("aria-checked") === "mixed" ? "mixed" : null;
  if (box.type === "radio") return "radio";
  return box.indeterminate ? "mixed" : null;
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

/**
 * Return the index of the option with this value if an earlier one has it as its label. If no option has this value and
 * several have this label, return their values with their groups. Otherwise return null.
 *
 * @type {(element: Element, wanted: string) => number | { value: string, group: string }[] | null}
 */
function findClash(element, wanted) {
  const select = fieldOf(element);
  if (!(select instanceof HTMLSelectElement)) return null;
  const options = Array.from(select.options);
  const index = options.findIndex((option) => option.value === wanted);
  const labelled = options.filter((option) => option.label === wanted && !option.matches(":disabled"));
  if (index >= 0) return labelled.some((option) => option.index < index) ? index : null;
  if (new Set(labelled.map((option) => option.value)).size < 2) return null;
  return labelled.map((option) => ({ value: option.value, group: option.closest("optgroup")?.label ?? "" }));
}

/**
 * Return what must be known before an option is chosen: the clash of its name, the selected options, and whether an open
 * modal dialog keeps the list from being used.
 *
 * @typedef {{ clash: ReturnType<typeof findClash>, selected: string[] | null, isInert: boolean }} Before
 * @type {(element: Element, wanted: string) => Before}
 */
export function prepareChoice(element, wanted) {
  return { clash: findClash(element, wanted), selected: listSelected(element), isInert: isBehindModal(element) };
}

/** @type {(element: Element) => boolean} */
function isBehindModal(element) {
  if (!Document.prototype.querySelector.call(document, "dialog:modal")) return false;
  for (let at = element; ; ) {
    if (Element.prototype.closest.call(at, "dialog:modal")) return false;
    const root = Node.prototype.getRootNode.call(at);
    if (!(root instanceof ShadowRoot)) return true;
    at = root.host;
  }
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
