// The value of a field, of editable text, or of an element with an ARIA value.

import { contextText, typedText } from "../../driver/typed_text.js";

const FIELDS = [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement];

/** @typedef {{ value: string | null, values: string[] | null, labels: string[] }} Value */

/**
 * Return the value of an element, or null if it has none; of a list that takes several options, all selected values; and
 * the labels of the selected options.
 *
 * @type {(element: Element) => Value}
 */
export function readField(element) {
  const field = fieldOf(element);
  const options = field instanceof HTMLSelectElement ? Array.from(field.selectedOptions) : [];
  const takesSeveral = field instanceof HTMLSelectElement && field.multiple;
  return {
    value: readValue(field),
    values: takesSeveral ? options.map((option) => option.value) : null,
    labels: options.map((option) => option.label.trim()),
  };
}

/**
 * Return the field of a label, or of the label around an element.
 *
 * @type {(element: AnyElement) => AnyElement}
 */
function fieldOf(element) {
  if (FIELDS.some((kind) => element instanceof kind) || element.isContentEditable) return element;
  const label = /** @type {HTMLLabelElement | null} */ (Element.prototype.closest.call(element, "label"));
  return label?.control ?? element;
}

/** @type {(field: AnyElement) => string | null} */
function readValue(field) {
  if (FIELDS.some((kind) => field instanceof kind)) return field.value ?? null;
  if (field.isContentEditable) return typedText(field);
  if (field.editContext) return contextText(field);
  const said = field.getAttribute("aria-valuetext") ?? field.getAttribute("aria-valuenow");
  if (said !== null) return said;
  if (field.getAttribute("role") === "combobox") {
    const input = field.querySelector("input, textarea");
    return input ? readValue(input) : (field.innerText ?? "").trim();
  }
  const isValued = ["output", "progress", "meter", "option"].includes(field.localName) || field.localName.includes("-");
  return isValued && ["string", "number"].includes(typeof field.value) ? String(field.value) : null;
}
