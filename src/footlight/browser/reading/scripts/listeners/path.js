// The path from a document to an element: the indexes among the child elements, and the steps into shadow trees.

import { accessor } from "./accessor.js";

const MAX_STEPS = 100_000; // In the page's own world `call` may be replaced, and a loop would not end.

/** @type {(path: (number | "shadow")[]) => Node | null} */
export function findElement(path) {
  const shadowOf = accessor(Element, "shadowRoot");
  const firstOf = accessor(Node, "firstChild");
  const nextOf = accessor(Node, "nextSibling");
  const kindOf = accessor(Node, "nodeType");
  let at = /** @type {Node | null} */ (document);
  for (const step of path) {
    if (step === "shadow") {
      at = shadowOf.call(at);
    } else {
      let before = step;
      at = firstOf.call(at);
      while (at && (kindOf.call(at) !== Node.ELEMENT_NODE || before-- > 0)) at = nextOf.call(at);
    }
    if (!at) return null;
  }
  return at;
}

/** @type {(element: Element) => (number | "shadow")[]} */
export function findSteps(element) {
  const parentOf = accessor(Node, "parentNode");
  const beforeOf = accessor(Node, "previousSibling");
  const kindOf = accessor(Node, "nodeType");
  const hostOf = accessor(ShadowRoot, "host");
  /** @type {(number | "shadow")[]} */
  let steps = [];
  let left = MAX_STEPS;
  const count = () => {
    if (left-- <= 0) throw new Error("There are too many elements on the way.");
  };
  for (let at = /** @type {Node | null} */ (element); at && kindOf.call(at) === Node.ELEMENT_NODE; ) {
    count();
    let place = 0;
    for (let each = beforeOf.call(at); each; each = beforeOf.call(each)) {
      count();
      if (kindOf.call(each) === Node.ELEMENT_NODE) place++;
    }
    steps = [place, ...steps];
    at = parentOf.call(at);
    if (at && kindOf.call(at) === Node.DOCUMENT_FRAGMENT_NODE) {
      at = hostOf.call(at);
      steps = ["shadow", ...steps];
    }
  }
  return steps;
}
