// Calls the listeners that were found, so that Chromium reports whether they have side effects.

import { makeEvent, makeStandIn, rootOf } from "./event.js";

/** @import { Found } from "./found.js" */

/**
 * Call the listeners of the nearest element (`index` -1), or one listener above it. Return whether there are any.
 *
 * The target of the event is the element itself, a stand-in for it (`element`), or a stand-in for the node that has the
 * listener (`itself`).
 *
 * @type {(found: Found, request: [index: number, aim: "" | "element" | "itself"]) => boolean}
 */
export function callAgain(found, [index, aim]) {
  const [own, above, element, page, view] = found;
  const list = index < 0 ? own : above.slice(index, index + 1);
  for (const [node, listener] of list) {
    const whole = node.nodeType === 1 ? node : page.documentElement;
    const place = aim === "itself" ? whole : seenFrom(node === view ? page : node, element);
    const target = (aim && place !== node) || aim === "itself" ? makeStandIn(place) : place;
    const event = makeEvent(found, node, target);
    if (typeof listener === "function") listener.call(node, event);
    else listener.handleEvent(event);
  }
  return list.length > 0;
}

/**
 * Return the event target for a listener of this node: the host of the shadow tree that contains the element.
 *
 * @type {(node: Node, element: Element) => any}
 */
function seenFrom(node, element) {
  const root = rootOf(node);
  let at = /** @type {any} */ (element);
  while (rootOf(at) !== root && rootOf(at).host) at = rootOf(at).host;
  return at;
}
