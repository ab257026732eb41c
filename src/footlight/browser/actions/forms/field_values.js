// The value of a field after an action.

import { bare, isEditor, textLength, textOf } from "./editor.js";
import { fieldOf } from "./field.js";

/**
 * Return whether a field got this text after its first `length` characters without white space.
 *
 * @type {(element: AnyElement, added: [text: string, length: number]) => boolean}
 */
export function hasGained(element, [text, length]) {
  const added = bare(text);
  const now = bare(textOf(element));
  if (textLength(element) === length + added.length && now.endsWith(added)) return true;
  return now.length > length && added.startsWith(now.slice(length)) && hasPassedFocus(element);
}

/**
 * Return whether the page has moved the focus to another field, which then receives the rest of what is typed. The fields
 * for the digits of a code do so.
 *
 * @type {(element: AnyElement) => boolean}
 */
function hasPassedFocus(element) {
  const focused = /** @type {Document | ShadowRoot} */ (element.getRootNode()).activeElement;
  return focused !== element && (focused instanceof HTMLInputElement || focused instanceof HTMLTextAreaElement);
}

/**
 * Return whether a field has this value, or null if that is uncertain.
 *
 * @type {(element: Element, value: string) => boolean | null}
 */
export function holdsText(element, value) {
  const field = /** @type {HTMLElement} */ (fieldOf(element));
  if (isEditor(field)) return null;
  if (field.isContentEditable) return isSame(field, field.innerText, value);
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return null;
  if (field.type === "number" || field.type === "range") return Number(field.value) === Number(value);
  if (["date", "datetime-local", "month", "time", "week", "color"].includes(field.type)) {
    const expected = /** @type {HTMLInputElement} */ (field.cloneNode());
    expected.value = value.trim();
    return field.value === expected.value;
  }
  if (!["text", "search", "url", "tel", "email", "password", "textarea"].includes(field.type)) return null;
  return isSame(field, field.value, value);
}

/**
 * Return whether a text is the one that was filled in. Fields for numbers write them in their own format, such as 07.
 *
 * @type {(field: Element, text: string, value: string) => boolean}
 */
function isSame(field, text, value) {
  const isNumber = field.getAttribute("role") === "spinbutton" && bare(text) !== "";
  return bare(text) === bare(value) || (isNumber && Number(text) === Number(value));
}

/**
 * Return whether exactly these options are selected, by values or labels, or null for another element.
 *
 * @type {(element: Element, expected: string[]) => boolean | null}
 */
export function hasChosen(element, expected) {
  const select = fieldOf(element);
  if (!(select instanceof HTMLSelectElement)) return null;
  /** @type {(option: HTMLOptionElement, name: string) => boolean} */
  const is = (option, name) => option.value === name || option.label === name;
  const chosen = Array.from(select.selectedOptions);
  return (
    chosen.every((option) => expected.some((name) => is(option, name))) &&
    expected.every((name) => chosen.some((option) => is(option, name)))
  );
}

/** @type {(element: Element) => boolean} */
export function hasNoFile(element) {
  const input = fieldOf(element);
  return input instanceof HTMLInputElement && input.type === "file" && !input.files?.length;
}
