// Finds the main content of a page: its `main`, its only article, or the narrowest element with most of the text.

import { CONTROLS, isBeside, isHidden, NEVER } from "./left_out.js";
import { childrenOf, get, isElement, MAX_DEPTH, TEXT, tagOf, tidy, typeOf } from "./nodes.js";

const ENOUGH = 200; // The number of characters that make a `main` the main content.
const MIN_SHARE = 0.8; // The share of the text that the narrowest container must have.

/** @type {(document: Document) => AnyElement | null} */
export function mainOf(document) {
  const body = get.body.call(document);
  if (!body) return null;
  for (const css of ["main, [role=main]", "article, [role=article]"]) {
    const found = [...Document.prototype.querySelectorAll.call(document, css)].filter((each) => !isHidden(each));
    if (found.length === 1 && weightOf(found[0]) >= ENOUGH) return found[0];
  }
  return narrowest(body);
}

/**
 * Return the number of characters in each element, without links and without elements that are left out.
 *
 * @type {(root: AnyElement) => Map<Node, number>}
 */
function weigh(root) {
  /** @type {Map<Node, number>} */
  const weights = new Map();
  /** @type {(element: AnyElement, depth: number) => number} */
  const visit = (element, depth) => {
    let weight = 0;
    for (const node of childrenOf(element)) {
      if (typeOf(node) === TEXT) weight += tidy(get.data.call(/** @type {Text} */ (node))).length;
      else if (isElement(node) && depth < MAX_DEPTH && counts(node)) weight += visit(node, depth + 1);
    }
    weights.set(element, weight);
    return weight;
  };
  visit(root, 0);
  return weights;
}

/** @type {(root: AnyElement) => number} */
const weightOf = (root) => weigh(root).get(root) || 0;

/** @type {(element: AnyElement) => boolean} */
function counts(element) {
  const tag = tagOf(element);
  if (tag === "a" || tag === "button" || NEVER.has(tag) || CONTROLS.has(tag)) return false;
  return !isHidden(element) && !isBeside(element, tag);
}

/** @type {(body: AnyElement) => AnyElement} */
function narrowest(body) {
  const weights = weigh(body);
  const least = (weights.get(body) || 0) * MIN_SHARE;
  let at = body;
  for (;;) {
    const next = /** @type {AnyElement[]} */ (childrenOf(at)).find(
      (node) => (weights.get(node) || 0) >= least && least > 0,
    );
    if (!next || /^(?:p|pre|ul|ol|dl|table|blockquote|h[1-6])$/.test(tagOf(next))) return at;
    at = next;
  }
}
