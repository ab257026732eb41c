// The fields that an action types into or ticks, and their names and messages.

import { getter } from "../../../driver/getter.js";
import { shadowOf } from "../../settling.js";

const MAX_WORDS = 300; // The server shortens them further, after it has masked secrets.
const TOGGLES = new Set(["checkbox", "radio"]);
const TEXTLESS = new Set("button checkbox color file hidden image radio range reset submit".split(" "));

export const closestAbove = Element.prototype.closest;
const containsOf = Node.prototype.contains;
export const isMatching = Element.prototype.matches;
const elementsOf = getter(HTMLFormElement, "elements");
const focusOf = getter(Document, "activeElement");
const bodyOf = getter(Document, "body");
export const connectedOf = getter(Node, "isConnected");

/** @returns {Element | null} */
export function focusNow() {
  let focused = focusOf.call(document);
  for (let inside = focused; inside; inside = shadowOf.call(inside)?.activeElement ?? null) focused = inside;
  return focused === bodyOf.call(document) ? null : focused;
}

/** @type {(text: string | null | undefined) => string} */
export const shorten = (text) => {
  const words = (text || "").replace(/\s+/g, " ").trim();
  return words.length > MAX_WORDS ? words.slice(0, MAX_WORDS - 1) + "…" : words;
};

/** @type {(element: Element) => boolean} */
export const isTextField = (element) =>
  (element instanceof HTMLInputElement && !TEXTLESS.has(element.type)) ||
  element instanceof HTMLTextAreaElement ||
  (element instanceof HTMLElement && element.isContentEditable);

/**
 * @param {EventTarget} target
 * @returns {target is HTMLInputElement}
 */
export const isFileField = (target) => target instanceof HTMLInputElement && target.type === "file";

/** @type {(element: AnyElement) => boolean} */
export const isEditable = (element) => element.isContentEditable === true;
/** @type {(field: AnyElement) => string} */
export const textIn = (field) => (field.isContentEditable ? field.textContent : field.value) || "";

/** @type {(field: AnyElement) => number | null} */
export function selectedLength(field) {
  // The selection inside a shadow tree is unknown.
  if (field.isContentEditable) return containsOf.call(document, field) && getSelection()?.isCollapsed ? 0 : null;
  const { selectionEnd, selectionStart } = field;
  return selectionStart == null || selectionEnd == null ? null : selectionEnd - selectionStart;
}

/** @type {(target: Element | null) => HTMLInputElement | null} */
export function toggleAt(target) {
  const label = target && closestAbove.call(target, "label");
  const input = label instanceof HTMLLabelElement ? label.control : target;
  return input instanceof HTMLInputElement && TOGGLES.has(input.type) ? input : null;
}

/** @type {(field: any) => string} */
export function nameOfField(field) {
  const [label] = Array.from(field.labels ?? [], (each) => each.innerText || each.textContent);
  const name = label || field.getAttribute("aria-label") || field.placeholder;
  return `"${shorten(name || field.getAttribute("name") || field.id) || `<${field.localName}>`}"`;
}

/** @type {(field: any) => boolean} */
export const isVisible = (field) => field.checkVisibility({ visibilityProperty: true });

/** @type {(field: any) => string} */
export function describeInvalid(field) {
  const message = field.validationMessage ? `: ${shorten(field.validationMessage)}` : "";
  return `${nameOfField(field)}${isVisible(field) ? "" : " (hidden)"}${message}`;
}

/**
 * Return the fields of a form. A field with the name `elements` would shadow the property.
 *
 * @type {(form: EventTarget | null) => any[]}
 */
export const fieldsOf = (form) => (form instanceof HTMLFormElement ? [...elementsOf.call(form)] : []);

/** @type {(field: any) => boolean} */
export const isLeftOut = (field) =>
  !isMatching.call(field, ":disabled") &&
  (field.type === "checkbox" ? !field.checked : isTextField(field) && !textIn(field)) &&
  isVisible(field);
