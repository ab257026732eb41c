// The value of an element that is not a form field.

/** @type {(element: AnyElement) => string | null} */
export function readValue(element) {
  const field = /** @type {AnyElement} */ ((element instanceof HTMLLabelElement && element.control) || element);
  if (field.isContentEditable) return (field.innerText ?? "").replace(/\n$/, "");
  const said = field.getAttribute("aria-valuetext") ?? field.getAttribute("aria-valuenow");
  if (said !== null) return said;
  const isValued = ["output", "progress", "meter", "option"].includes(field.localName) || field.localName.includes("-");
  return isValued && ["string", "number"].includes(typeof field.value) ? String(field.value) : null;
}
