// The field of a label.

/** @type {(element: Element) => Element} */
export function fieldOf(element) {
  return (element instanceof HTMLLabelElement && element.control) || element;
}
