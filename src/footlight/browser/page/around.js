// The parents of a node, also through slots and shadow roots.

import { getter } from "../driver/getter.js";

// Fields of a form shadow its members, so a walk upwards could become a loop.
export const parentNodeOf = getter(Node, "parentNode");
const slotOf = getter(Element, "assignedSlot");

/**
 * Return the parent of a node, also through slots and shadow roots.
 *
 * @type {(node: any) => any}
 */
export const outside = (node) =>
  (node instanceof Element && slotOf.call(node)) ||
  parentNodeOf.call(node) ||
  (node instanceof ShadowRoot ? node.host : null);

/**
 * Return whether a node is inside an element, also through shadow roots and slots.
 *
 * @type {(node: any, outer: unknown) => boolean}
 */
export function isIn(node, outer) {
  for (let at = node; at; at = outside(at)) if (at === outer) return true;
  return false;
}
