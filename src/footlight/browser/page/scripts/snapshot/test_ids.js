// The request `testids`.

import {
  attribute,
  checkVisibility,
  cut,
  ELEMENT,
  findAll,
  fold,
  get,
  getBoundingClientRect,
  isMatch,
  MAX_NAME,
  MAX_TEST_ID_TEXT,
  TEXT,
  tidy,
  words,
} from "./platform.js";
import { VISIBLE } from "./visibility.js";

/** @import { Request } from "./pass.js" */
/** @import { Scope } from "./platform.js" */

// Elements that contain typed text, or words that are not visible.
const WORDLESS = words("input textarea select script style template");

const TYPED_INTO = [...WORDLESS, "[contenteditable]:not([contenteditable=false])"].join();

/** @type {(element: AnyElement) => string} */
function wordsIn(element) {
  if (isMatch(element, TYPED_INTO)) return "";
  if (!findAll(element, TYPED_INTO).length) return get.textContent.call(element) || "";
  let words = "";
  for (let at = get.firstChild.call(element); at; at = get.nextSibling.call(at)) {
    const type = get.nodeType.call(at);
    if (type === TEXT) words += get.data.call(/** @type {Text} */ (at));
    if (type === ELEMENT) words += wordsIn(/** @type {AnyElement} */ (at));
  }
  return words;
}

/** @type {(element: AnyElement) => boolean} */
export const isSeen = (element) => {
  if (checkVisibility && !checkVisibility.call(element, VISIBLE)) return false;
  const box = getBoundingClientRect.call(element);
  return box.width > 0 && box.height > 0;
};

/**
 * Return the elements with test ids in document order, also in open shadow roots, at most `limit`.
 *
 * @type {(root: Scope, request: Request) => string}
 */
export function testIds(root, request) {
  /** @type {[string, string, string][]} */
  const items = [];
  /** @type {(from: Scope) => void} */
  function collect(from) {
    for (const element of findAll(from, "*")) {
      const id = attribute(element, "data-testid");
      if (id && isSeen(element)) {
        if (items.length === request.limit) return;
        const tag = get.localName.call(element);
        items.push([cut(fold(id), MAX_NAME), tag, tidy(wordsIn(element), MAX_TEST_ID_TEXT)]);
      }
      const shadow = get.shadowRoot.call(element);
      if (shadow) collect(shadow);
    }
  }
  collect(root);
  return JSON.stringify({ items });
}
