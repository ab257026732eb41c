// The radio buttons of a group.

import { fieldOf } from "./field.js";
import { ariaName, clean, innerName } from "./naming.js";

/**
 * Return the only radio button of a group with this value, or otherwise with this name, or null. The group is that of
 * the element, or the element itself.
 *
 * @type {(element: Element, wanted: string) => Element | null}
 */
export function findRadio(element, wanted) {
  const group = groupOf(element);
  for (const read of [ownValue, (/** @type {Element} */ radio) => nameOf(radio, element)]) {
    const found = group.filter((radio) => read(radio) === wanted);
    if (found.length === 1) return found[0];
  }
  return null;
}

/**
 * Return the names of the radio buttons of a group, or their values.
 *
 * @type {(element: Element) => (string | null)[]}
 */
export function listRadios(element) {
  return groupOf(element).map((radio) => nameOf(radio, element) || ownValue(radio));
}

/** @type {(element: Element) => Element[]} */
function groupOf(element) {
  const field = fieldOf(element);
  if (field instanceof HTMLInputElement) {
    return listGroup(/** @type {ParentNode & Node} */ (element.getRootNode()), field);
  }
  const group = field.closest("[role=radiogroup], fieldset, [role=menu]") || field;
  return Array.from(group.querySelectorAll("input[type=radio], [role=radio], [role=menuitemradio]"));
}

/** @type {(radio: Element, field: Element) => string} */
function nameOf(radio, field) {
  return ariaName(radio, field) || labelsOf(radio);
}

/** @type {(root: ParentNode, field: HTMLInputElement) => Element[]} */
function listGroup(root, field) {
  /** @type {NodeListOf<HTMLInputElement>} */
  const radios = root.querySelectorAll("input[type=radio]");
  return Array.from(radios).filter((radio) => radio.name === field.name && radio.form === field.form);
}

/** @type {(radio: Element) => string | null} */
function ownValue(radio) {
  return radio instanceof HTMLInputElement ? radio.value : radio.getAttribute("value");
}

/** @type {(radio: AnyElement) => string} */
function labelsOf(radio) {
  return radio.labels ? Array.from(radio.labels, (label) => clean(label.innerText)).join(" ") : innerName(radio);
}
