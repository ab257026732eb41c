// Find controls by what they are called.

import { isVisible, oneLine, own, textOf } from "./dom.js";

/**
 * Return whether a visible control that matches the selector is called something that matches these words.
 *
 * @type {(selector: string, words: RegExp) => boolean}
 */
export const hasControl = (selector, words) =>
  [...own.querySelectorAll(document, selector)].some((each) => isVisible(each) && words.test(wordsOn(each)));

/** @type {(control: AnyElement) => string} */
const wordsOn = (control) =>
  oneLine(
    [
      textOf(control),
      own.getAttribute(control, "aria-label"),
      own.getAttribute(control, "title"),
      control.value,
      ...[...(control.labels ?? [])].map((label) => textOf(label)),
    ].join(" "),
    200,
  );
