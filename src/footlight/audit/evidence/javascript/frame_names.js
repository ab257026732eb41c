// Frames of the same name that show different documents.

import { isVisible, oneLine } from "./dom.js";
import { elements, idsOf } from "./link_facts.js";
import { REPEATED } from "./link_targets.js";
import { hasMostWordsOf, wordsOf } from "./words.js";

/**
 * Return the frames of one name whose documents serve different purposes.
 *
 * @returns {AnyElement[]}
 */
export function framesOfOneName() {
  const frames = elements.filter(
    (each) => each.localName === "iframe" && isVisible(each) && !each.closest("[aria-hidden=true]"),
  );
  const groups = Object.groupBy(frames, (each) => frameNameOf(each).toLowerCase());
  return Object.entries(groups).flatMap(([name, some = []]) => {
    const words = some.map(wordsOfFrame).filter((each) => each?.size);
    const isSame = words.every((each) => each && words[0] && hasMostWordsOf(each, words[0]));
    return !name || words.length < some.length || isSame ? [] : some;
  });
}

/** @type {(frame: AnyElement) => string} */
export const frameNameOf = (frame) =>
  oneLine(
    idsOf(frame, "aria-labelledby")
      .map((id) => document.getElementById(id)?.textContent ?? "")
      .join(" ")
      .trim() ||
      frame.getAttribute("aria-label") ||
      frame.getAttribute("title"),
    200,
  );

/** @type {(frame: AnyElement) => Set<string> | null} */
function wordsOfFrame(frame) {
  try {
    const page = frame.contentDocument;
    if (!page?.body) return null;
    const body = /** @type {HTMLElement} */ (page.body.cloneNode(true));
    for (const each of body.querySelectorAll(REPEATED)) each.remove();
    return wordsOf(`${page.title} ${body.textContent}`);
  } catch {
    return null;
  }
}
