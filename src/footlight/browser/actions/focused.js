// The element that has the focus.

import { getter } from "../driver/getter.js";

const activeIn = getter(Document, "activeElement");
const activeInRoot = getter(ShadowRoot, "activeElement");
const bodyOf = getter(Document, "body");
const shadowRootOf = getter(Element, "shadowRoot");

/**
 * Return the element that has the focus, also in open shadow roots. Null where only the body has it.
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
