// Refs: numbers that identify elements.

import { pass } from "./pass.js";
import { DOCUMENT, get, MAX_PASSES, NOTHING } from "./platform.js";
import { forgetLook } from "./reads.js";

/** @import { Request } from "./pass.js" */
/** @import { Scope } from "./platform.js" */

/** @type {WeakMap<AnyElement, number>} */
const numbers = new WeakMap();
/** @type {Map<number, WeakRef<AnyElement>>} */
export const elements = new Map();
let kept = 1_000;

/** @type {(element: AnyElement) => string} */
export function refOf(element) {
  let number = numbers.get(element);
  if (number === undefined) {
    number = pass.next++;
    numbers.set(element, number);
    elements.set(number, new WeakRef(element));
  }
  return "e" + number;
}

// The refs of a pass whose reply was lost were never sent, and other elements may have their numbers by now.
/** @type {Map<string, [number, number]>} */
const refsByPass = new Map();

/** @type {(request: Request) => void} */
export function forgetLost(request) {
  for (const id of request.lost || NOTHING) {
    const [from, to] = refsByPass.get(id) || [0, 0];
    if (from < to) forgetLook();
    for (let number = from; number < to; number++) {
      const element = elements.get(number)?.deref();
      if (element && numbers.get(element) === number) numbers.delete(element);
      elements.delete(number);
    }
    refsByPass.delete(id);
  }
}

/** @type {(id: string | undefined, from: number, to: number) => void} */
export function recordRefs(id, from, to) {
  if (id === undefined || from === to) return;
  refsByPass.set(id, [from, to]);
  if (refsByPass.size > MAX_PASSES) for (const oldest of refsByPass.keys()) return void refsByPass.delete(oldest);
}

/**
 * Return the element of a ref if it is still in this document.
 *
 * @type {(ref: string, root: Scope) => AnyElement | undefined}
 */
export function elementOf(ref, root) {
  const found = elements.get(Number(ref.slice(1)));
  const element = found?.deref();
  if (!element || !get.isConnected.call(element)) return undefined;
  const isDocument = get.nodeType.call(root) === DOCUMENT;
  const inside = isDocument ? get.ownerDocument.call(element) === root : isBelow(element, root);
  return inside ? element : undefined;
}

/** @type {(element: AnyElement, root: Scope) => boolean} */
function isBelow(element, root) {
  for (let at = /** @type {any} */ (element); at; at = get.parentNode.call(at) || at.host) if (at === root) return true;
  return false;
}

/** @returns {void} */
export function forgetRemoved() {
  if (elements.size < kept) return;
  for (const [number, element] of elements) if (!element.deref()) elements.delete(number);
  kept = elements.size * 2 + 1_000;
}
