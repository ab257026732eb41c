// Describe a field, select its text, and paste into the field of an editor.

import { isEditor } from "./editor.js";
import { fieldOf } from "./field.js";
import { holdsText } from "./field_values.js";

/**
 * Return the format that the field expects if this value does not have it, and whether it is the field of an editor.
 *
 * @type {(element: Element, value: string) => { expected: string | null, editor: boolean }}
 */
export function describeField(element, value) {
  const field = fieldOf(element);
  return { expected: expectedForm(field, value), editor: isEditor(field) };
}

const MAX_ASKED = 3_000; // Longer texts may be sent to the main world of the page, which would see the function.

/** @typedef {boolean | "unfocused" | number} Selected whether a text was selected; a number if `isFilled` knows it */

/**
 * Return the result of `describeField`, and select the text of a plain field. `selected`: whether that was done.
 *
 * @type {(element: Element, value: string) => { expected: string | null, editor: boolean, selected: Selected }}
 */
export function selectField(element, value) {
  return { ...describeField(element, value), selected: selectText(element, value) };
}

/**
 * Paste a text into a field without the clipboard. Return whether the page handled it: the event itself inserts nothing.
 *
 * @type {(element: Element, text: string) => boolean}
 */
export function paste(element, text) {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true });
  return !fieldOf(element).dispatchEvent(event);
}

/**
 * Do what Playwright does to a plain field before it inserts the text. Return whether that was done. The conditions
 * include all those for which Playwright waits.
 *
 * @type {(element: Element, value: string) => Selected}
 */
function selectText(element, value) {
  const kinds = ["text", "search", "url", "tel", "email", "password", "textarea"];
  const isText = element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement;
  if (!value || !isText || !kinds.includes(element.type) || isEditor(element)) return false;
  if (self !== top || !document.hasFocus() || element.getRootNode() !== document) return false;
  if (element.readOnly) return false;
  const held = ":disabled, [aria-readonly], [aria-disabled], [aria-disabled] *, [inert], [inert] *";
  if (element.matches(held)) return false;
  const box = element.getBoundingClientRect();
  if (!box.width || !box.height || !element.checkVisibility({ visibilityProperty: true })) return false;
  const filled = Symbol.for("footlight.filled");
  /** @type {Element | undefined} the field that was filled before this one */
  const last = /** @type {any} */ (globalThis)[filled];
  const isEmptied = () => last !== undefined && last !== element && holdsText(last, "") === true;
  const wasEmpty = isEmptied();
  const noteInsertion = /** @type {any} */ (globalThis)[Symbol.for("footlight.insertion")];
  noteInsertion?.(true);
  element.select();
  element.focus();
  const { x, y } = element.getBoundingClientRect();
  if (x !== box.x || y !== box.y) noteInsertion?.(false);
  const focused = Object.getOwnPropertyDescriptor(Document.prototype, "activeElement")?.get?.call(document);
  // The page may draw its field again when that gets the focus.
  if (!element.isConnected && focused && isAlike(focused, element)) return selectText(focused, value);
  // Without the focus, the text would go into the focused element.
  if (focused !== element && focused && focused.localName !== "body") return "unfocused";
  if (value.length > MAX_ASKED) return true;
  /** @type {any} */ (globalThis)[filled] = element;
  const received = waitForInput(element);
  // The server asks this while it inserts the text, or afterwards, without sending the script again.
  const id = Math.random();
  const isFilled = async (/** @type {number} */ asked, /** @type {boolean} */ isComing) => {
    if (isComing) await received;
    if (asked !== id || !element.isConnected || !holdsText(element, value)) return false;
    return !wasEmpty && isEmptied() ? "emptied" : true;
  };
  /** @type {any} */ (globalThis)[Symbol.for("footlight.isFilled")] = isFilled;
  return id;
}

const OWN = ["id", "name", "type", "placeholder", "aria-label"];

/** @type {(one: Element, other: Element) => boolean} */
const isAlike = (one, other) =>
  one.localName === other.localName && OWN.every((name) => one.getAttribute(name) === other.getAttribute(name));

/**
 * Wait until the next `input` event of a field has reached all listeners. A message is no timer, which would be counted
 * as a timer of the page.
 *
 * @type {(element: Element) => Promise<void>}
 */
function waitForInput(element) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    element.addEventListener("input", () => port2.postMessage(0), { capture: true, once: true });
  });
}

/** @type {Lookup<string>} */
const FORMS = {
  __proto__: null,
  date: "2024-02-29",
  time: "13:45",
  "datetime-local": "2024-02-29T13:45",
  month: "2024-02",
  week: "2024-W09",
  color: "#a1b2c3",
  number: "1234.5",
  range: "a number",
};

/** @type {(field: Element, value: string) => string | null} */
function expectedForm(field, value) {
  if (!value || !(field instanceof HTMLInputElement) || !FORMS[field.type]) return null;
  const trial = /** @type {HTMLInputElement} */ (field.cloneNode());
  const trimmed = value.trim();
  trial.value = trimmed;
  if (field.type === "range") {
    if (Number(trial.value) === Number(trimmed)) return null;
    const step = trial.step && trial.step !== "any" ? ` in steps of ${trial.step}` : "";
    return `a number from ${trial.min || 0} to ${trial.max || 100}${step}`;
  }
  const kept = field.type === "color" ? trial.value === trimmed.toLowerCase() : trial.value !== "";
  return kept ? null : `the form ${FORMS[field.type]}`;
}
