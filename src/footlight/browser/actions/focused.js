// The focused element.

import { getter } from "../driver/getter.js";

const activeIn = getter(Document, "activeElement");
const activeInRoot = getter(ShadowRoot, "activeElement");
const bodyOf = getter(Document, "body");
const shadowRootOf = getter(Element, "shadowRoot");

/**
 * Return the focused element, also in open shadow roots, or null if only the body has the focus.
 *
 * @type {() => Element | null}
 */
export function findFocused() {
  let focused = activeIn.call(document);
  for (let inner = focused; inner; ) {
    focused = inner;
    const root = shadowRootOf.call(inner);
    inner = root && activeInRoot.call(root);
  }
  return focused === bodyOf.call(document) ? null : focused;
}
