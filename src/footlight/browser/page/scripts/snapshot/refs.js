// Refs: numbers that stand for elements.

import { pass } from "./pass.js";
import { DOCUMENT, get, MAX_GIVEN, NOTHING } from "./platform.js";

const numbers = new WeakMap();
export const elements = new Map();
let kept = 1_000;

export function refOf(element) {
  let number = numbers.get(element);
  if (number === undefined) {
    number = pass.next++;
    numbers.set(element, number);
    elements.set(number, new WeakRef(element));
  }
  return "e" + number;
}

// The refs of a pass whose answer was lost were never sent, and other elements may have their numbers by now.
const given = new Map();

export function forgetLost(asked) {
  for (const id of asked.lost || NOTHING) {
    const [from, to] = given.get(id) || [0, 0];
    for (let number = from; number < to; number++) {
      const element = elements.get(number)?.deref();
      if (element && numbers.get(element) === number) numbers.delete(element);
      elements.delete(number);
    }
    given.delete(id);
  }
}

export function recordGivenRefs(id, from, to) {
  if (id === undefined || from === to) return;
  given.set(id, [from, to]);
  if (given.size > MAX_GIVEN) given.delete(given.keys().next().value);
}

// The live element of a ref that is in this document.
export function elementOf(ref, root) {
  const found = elements.get(Number(ref.slice(1)));
  const element = found?.deref();
  if (!element || !get.isConnected.call(element)) return undefined;
  const isDocument = get.nodeType.call(root) === DOCUMENT;
  const inside = isDocument ? get.ownerDocument.call(element) === root : isBelow(element, root);
  return inside ? element : undefined;
}

function isBelow(element, root) {
  for (let at = element; at; at = get.parentNode.call(at) || at.host) if (at === root) return true;
  return false;
}

export function forgetRemoved() {
  if (elements.size < kept) return;
  for (const [number, element] of elements) if (!element.deref()) elements.delete(number);
  kept = elements.size * 2 + 1_000;
}
