// The radio buttons of a group.

import { fieldOf } from "./field.js";
import { ariaName, clean, innerName } from "./naming.js";

/**
 * Return the only radio button of a group with this value, or otherwise with this name, or else the names of all. The
 * group is that of the element, or the element itself.
 *
 * @type {(element: Element, wanted: string) => Element | (string | null)[]}
 */
export function findRadio(element, wanted) {
  const field = fieldOf(element);
  const group =
    field instanceof HTMLInputElement
      ? listGroup(/** @type {ParentNode & Node} */ (element.getRootNode()), field)
      : Array.from(
          (field.closest("[role=radiogroup], fieldset, [role=menu]") || field).querySelectorAll(
            "input[type=radio], [role=radio], [role=menuitemradio]",
          ),
        );
  /** @type {(radio: Element) => string} */
  const name = (radio) => ariaName(radio, element) || labelsOf(radio);
  for (const read of [ownValue, name]) {
    const found = group.filter((radio) => read(radio) === wanted);
    if (found.length === 1) return found[0];
  }
  return group.map((radio) => name(radio) || ownValue(radio));
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
