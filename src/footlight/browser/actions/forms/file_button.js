// Buttons that a page draws under a file input, which takes the press of a user.

import { hitInView } from "../../page/press_places.js";
import { takesFiles } from "./controls.js";

/**
 * Return whether a file input is over the middle of an element.
 *
 * @type {(element: Element) => boolean}
 */
export function isUnderFileInput(element) {
  const over = hitInView(element);
  return over !== null && over !== element && takesFiles(over) !== null;
}
