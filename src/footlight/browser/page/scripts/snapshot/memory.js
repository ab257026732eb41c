// The cache of elements from one pass to the next: their attribute names and their children.
//
// A mutation observer on the document and on each shadow tree that was entered reports what to drop. Everything that
// depends on styles, on the focus or on the values of fields is read again in each pass.

import { get, MAX_MUTATIONS } from "./platform.js";

const { createTreeWalker } = Document.prototype;

let known = new WeakMap(); // facts by element, only for elements in trees that are observed
let observed = new WeakSet();
let mutations = 0; // since the last pass

const OBSERVED = { subtree: true, childList: true, attributes: true, characterData: true };
const observer = new MutationObserver(forgetChanged);

export const findRemembered = (element) => known.get(element);
export const remember = (facts) => known.set(facts.element, facts);
export const isObserved = (root) => observed.has(root);

export function observe(root) {
  if (observed.has(root)) return;
  observed.add(root);
  observer.observe(root, OBSERVED);
}

// Called before a pass: process the changes that the observer has not reported yet.
export function forgetPending() {
  forgetChanged(observer.takeRecords());
  mutations = 0;
}

// A page that changes without a pause costs only this many changes; then nothing is cached until the next pass.
function forgetChanged(records) {
  for (const record of records) {
    forgetRecord(record);
    if (++mutations > MAX_MUTATIONS) return forgetAll();
  }
  return undefined;
}

function forgetAll() {
  observer.disconnect();
  known = new WeakMap();
  observed = new WeakSet();
  mutations = 0;
}

function forgetRecord({ type, target, addedNodes, removedNodes }) {
  if (type === "attributes") {
    const facts = known.get(target);
    if (facts) facts.names = null;
    return;
  }
  const parent = type === "characterData" ? get.parentNode.call(target) : target;
  const facts = parent && known.get(parent);
  if (facts) facts.list = null;
  for (const node of removedNodes) forgetInside(node);
  for (const node of addedNodes) forgetInside(node);
}

// Changes in a part that was removed from the document have not been reported.
function forgetInside(node) {
  const walker = createTreeWalker.call(get.ownerDocument.call(node), node, NodeFilter.SHOW_ELEMENT);
  for (let at = walker.currentNode; at && mutations <= MAX_MUTATIONS; at = walker.nextNode()) {
    known.delete(at);
    mutations++;
  }
}
