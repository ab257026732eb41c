// The way from the top document to an element, by which a script in the page's own world finds it again.

import { getter } from "../driver/getter.js";

const MAX_STEPS = 500;

// The globals of other frames are other ones, but these accessors work for their nodes too.
const kindOf = getter(Node, "nodeType");
const aboveOf = getter(Node, "parentNode");
const siblingOf = getter(Node, "previousSibling");
const windowOf = getter(Document, "defaultView");
const hostOf = getter(ShadowRoot, "host");

/** @typedef {number | "shadow" | "frame"} PathStep the place among the child elements, or the way into an element */

/**
 * Return the steps to an element, or null where they lead through the frame of another origin.
 *
 * @type {(element: Element) => PathStep[] | null}
 */
export function pathTo(element) {
  /** @type {PathStep[]} */
  const steps = [];
  for (let at = /** @type {any} */ (element); steps.length < MAX_STEPS; ) {
    let place = 0;
    for (let each = siblingOf.call(at); each; each = siblingOf.call(each))
      if (kindOf.call(each) === Node.ELEMENT_NODE) place++;
    steps.unshift(place);
    at = aboveOf.call(at);
    if (!at) return null;
    if (kindOf.call(at) === Node.DOCUMENT_FRAGMENT_NODE) {
      steps.unshift("shadow");
      at = hostOf.call(at);
    } else if (kindOf.call(at) === Node.DOCUMENT_NODE) {
      const view = windowOf.call(at);
      if (!view || view === view.parent) return view ? steps : null;
      at = view.frameElement; // null for another origin
      if (!at) return null;
      steps.unshift("frame");
    }
  }
  return null;
}
