// The value of an element whose value Playwright does not read: one that is no form field, or a field of an XML document.

import { contextText, typedText } from "../../driver/typed_text.js";

const FIELDS = [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement];

/** @type {(element: AnyElement) => string | null} */
export function readValue(element) {
  const field = /** @type {AnyElement} */ ((element instanceof HTMLLabelElement && element.control) || element);
  if (FIELDS.some((kind) => field instanceof kind)) return field.value ?? null;
  if (field.isContentEditable) return typedText(field);
  if (field.editContext) return contextText(field);
  const said = field.getAttribute("aria-valuetext") ?? field.getAttribute("aria-valuenow");
  if (said !== null) return said;
  const isValued = ["output", "progress", "meter", "option"].includes(field.localName) || field.localName.includes("-");
  return isValued && ["string", "number"].includes(typeof field.value) ? String(field.value) : null;
}
