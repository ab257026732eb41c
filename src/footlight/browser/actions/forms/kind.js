// The kind of a field.

import { fieldOf } from "./field.js";

/** @typedef {{kind: string, editable: boolean, multiple: boolean}} Kind */
/** @typedef {{reason: string, suggestion: string}} NotFillable */

const USE_CLICK = "Use click.";

/** @type {(element: Element) => Kind | NotFillable} */
export function findKind(element) {
  const field = /** @type {HTMLElement} */ (fieldOf(element));
  const role = (field.getAttribute("role") || "").trim().toLowerCase().split(/\s+/)[0];
  if (field instanceof HTMLInputElement) {
    const type = field.type;
    if (type === "file") return { reason: "a file input", suggestion: "Use upload_file." };
    if (type === "hidden") return { reason: "a hidden field", suggestion: "Leave it out: the page sets it." };
    if (["button", "submit", "reset", "image"].includes(type)) return { reason: "a button", suggestion: USE_CLICK };
    if (type === "checkbox" || type === "radio") return makeKind(type);
    const isCombobox = role === "combobox" || (!role && field.getAttribute("aria-haspopup") === "listbox");
    return isCombobox ? makeKind("combobox", { editable: isTyped(field) }) : makeKind("text");
  }
  if (field instanceof HTMLSelectElement) return makeKind("select", { multiple: field.multiple });
  if (field instanceof HTMLTextAreaElement) return makeKind("text");
  if (["checkbox", "switch", "menuitemcheckbox"].includes(role)) return makeKind("checkbox");
  if (role === "radio" || role === "menuitemradio") return makeKind("radio");
  const radios = field.querySelector("input[type=radio], [role=radio]");
  if (role === "radiogroup" || (field.localName === "fieldset" && radios)) return makeKind("radiogroup");
  const several = field.getAttribute("aria-multiselectable") === "true";
  // Some drop-downs have this role themselves.
  const isDropDown = field.hasAttribute("aria-expanded") && !several;
  if (role === "listbox" && !isDropDown) return makeKind("listbox", { multiple: several });
  if (role === "combobox" || role === "listbox") return makeKind("combobox", { editable: field.isContentEditable });
  if (field.isContentEditable || /** @type {AnyElement} */ (field).editContext || role === "slider")
    return makeKind("text");
  if (field.getAttribute("aria-haspopup") === "listbox") return makeKind("combobox");
  if (field instanceof HTMLButtonElement || role === "button") return { reason: "a button", suggestion: USE_CLICK };
  return {
    reason: `not a form field, but a <${field.localName}>`,
    suggestion: "Give the selector of the field itself.",
  };
}

/**
 * Return whether a field takes typed text. Some drop-downs only ask for no keyboard on the screen.
 *
 * @type {(field: HTMLInputElement) => boolean}
 */
const isTyped = (field) => !field.readOnly && field.inputMode !== "none";

/** @type {(kind: string, more?: Partial<Kind>) => Kind} */
function makeKind(kind, more) {
  return { kind, editable: false, multiple: false, ...more };
}
