// The path to an element from the top document, or from a frame in a document of another origin. A script in the page's
// main world finds the element again by it.

import { getter } from "../driver/getter.js";

const MAX_STEPS = 500;

// Other frames have other globals, but these accessors work for their nodes too.
const kindOf = getter(Node, "nodeType");
const aboveOf = getter(Node, "parentNode");
const siblingOf = getter(Node, "previousSibling");
const windowOf = getter(Document, "defaultView");
const hostOf = getter(ShadowRoot, "host");

/** @typedef {number | "shadow" | "frame"} PathStep the index among the child elements, or the step into an element */

/**
 * Return the steps to an element, or null if it is in no document. They begin in the top document, or in the
 * outermost document that is accessible: `above` counts the frames up to that one, or is null for the top document.
 *
 * @type {(element: Element) => {steps: PathStep[], above: number | null} | null}
 */
export function pathTo(element) {
  /** @type {PathStep[]} */
  const steps = [];
  let above = 0;
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
      if (!view) return null;
      if (view === view.parent) return { steps, above: null };
      at = view.frameElement; // Null for another origin.
      if (!at) return { steps, above };
      above++;
      steps.unshift("frame");
    }
  }
  return null;
}
