// The names of fields and options.

import { flatText } from "./flat_tree.js";

/** @type {(text: string | null | undefined) => string} */
export function clean(text) {
  return (text || "").replace(/\s+/g, " ").trim();
}

/**
 * Return the elements with these ids in the tree of an element, or otherwise in its document.
 *
 * @type {(element: Element, ids: string | null) => Element[]}
 */
export function findByIds(element, ids) {
  const root = /** @type {Partial<Document>} */ (element.getRootNode());
  return (ids || "")
    .split(/\s+/)
    .map((id) => root.getElementById?.(id) || element.ownerDocument.getElementById(id))
    .filter((found) => found !== null);
}

/**
 * Return the name that ARIA gives to a part of a field, such as an option.
 *
 * @type {(part: Element, field: Element) => string}
 */
export function ariaName(part, field) {
  const label = clean(part.getAttribute("aria-label"));
  if (label) return label;
  const labels = findByIds(field, part.getAttribute("aria-labelledby"));
  return labels.map((each) => clean(each.textContent)).join(" ");
}

/** @type {(element: Element) => string} */
export function innerName(element) {
  return clean(/** @type {HTMLElement} */ (element).innerText) || clean(flatText(element));
}
