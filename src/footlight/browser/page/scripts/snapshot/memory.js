// The cache of elements from one pass to the next: their attribute names and their children.
//
// A mutation observer on the document and on each shadow tree that was visited reports which entries to drop.
// Everything that depends on styles, on the focus or on the values of fields is read again in each pass (`reads.js`).

import { documentOf, get, MAX_MUTATIONS } from "./platform.js";
import { forgetLook } from "./reads.js";

/** @import { Facts } from "./pass.js" */

const { createTreeWalker } = Document.prototype;

/** @type {WeakMap<Node, Facts>} */
let known = new WeakMap(); // Facts by element, only for elements in observed trees.
/** @type {WeakSet<Node>} */
let observed = new WeakSet();
let mutations = 0; // Since the last pass.
let isChanged = false; // Whether the page has changed the document since then.

const OBSERVED = { subtree: true, childList: true, attributes: true, characterData: true };
const observer = new MutationObserver(forgetChanged);

/** @type {(element: AnyElement) => Facts | undefined} */
export const findRemembered = (element) => known.get(element);
/** @type {(facts: Facts) => void} */
export const remember = (facts) => known.set(facts.element, facts);
/** @type {(root: Node) => boolean} */
export const isObserved = (root) => observed.has(root);

/** @type {(root: Node) => void} */
export function observe(root) {
  if (observed.has(root)) return;
  observed.add(root);
  observer.observe(root, OBSERVED);
}

// What changed since an action began, to decide whether it had an effect. An element that has changed by itself three
// times, the last time a moment ago, counts as one that changes all the time, such as a clock. So does one that changes
// several times a second until the action begins, such as an animation.
const TICKS = 3;
const TICK_MS = 300; // Changes within this time of each other count as one.
const RECENT_MS = 2_500;
const QUICK_TICKS = 5;
const QUICK_MS = 200;
/** @typedef {{ count: number, last: number, quick: number, at: number }} Ticks the slow ones, and those in quick succession */
/** @type {WeakMap<Node, Ticks>} */
const ticks = new WeakMap(); // By the node that changed outside of actions.
const NONE = { count: 0, last: -Infinity, quick: 0, at: -Infinity };
let others = 0; // The number of changes outside of actions to elements that do not change all the time.
const acting = { is: false, began: 0, changed: false, ticked: false, stale: false };

/** @type {(records: MutationRecord[]) => void} */
function noteChanges(records) {
  const now = performance.now();
  for (const { target } of records) {
    const { count, last, quick, at } = ticks.get(target) || NONE;
    if (!acting.is) {
      if (count < TICKS) others++;
      if (now === at) continue; // A script often changes an element more than once.
      const slow = now - last > TICK_MS ? { count: count + 1, last: now } : { count, last };
      ticks.set(target, { ...slow, quick: now - at < QUICK_MS ? quick + 1 : 1, at: now });
    } else if (count >= TICKS && acting.began - last < RECENT_MS) acting.ticked = true;
    else if (quick >= QUICK_TICKS && acting.began - at < QUICK_MS) acting.ticked = true;
    else acting.changed = true;
  }
}

// Other scripts of this world use this. Names of the page cannot shadow a symbol.
/** @type {any} */ (globalThis)[Symbol.for("footlight.changes")] = {
  /** @returns {void} */
  begin() {
    forgetChanged(observer.takeRecords());
    const isKnown = observed.has(document);
    Object.assign(acting, { is: true, began: performance.now(), changed: false, ticked: false });
    acting.stale = isChanged || !isKnown;
  },

  /** @returns {{ count: number, stale: boolean }} the changes outside of actions, and whether any is since the last pass */
  others() {
    forgetChanged(observer.takeRecords());
    return { count: others, stale: isChanged || !observed.has(document) };
  },

  /** @returns {{ changed: boolean, ticked: boolean, stale: boolean } | null} */
  read() {
    forgetChanged(observer.takeRecords());
    return observed.has(document) ? { changed: acting.changed, ticked: acting.ticked, stale: acting.stale } : null;
  },
};

/**
 * Process the changes that the observer has not reported yet, before a pass.
 *
 * @returns {void}
 */
export function forgetPending() {
  forgetChanged(observer.takeRecords());
  mutations = 0;
  acting.is = isChanged = false;
}

/**
 * Drop the cache entries of what has changed. For a page that changes without a pause, only this many changes are
 * processed; then nothing is cached until the next pass.
 *
 * @type {(records: MutationRecord[]) => void}
 */
function forgetChanged(records) {
  if (records.length) forgetLook();
  noteChanges(records);
  for (const record of records) {
    forgetRecord(record);
    isChanged ||= !isCopied(record.target);
    if (++mutations > MAX_MUTATIONS) return forgetAll();
  }
  return undefined;
}

/**
 * Return whether the browser itself changes a node: it copies the selected option before the page learns of the choice.
 *
 * @type {(node: Node) => boolean}
 */
const isCopied = (node) => node instanceof Element && get.localName.call(node) === "selectedcontent";

/** @returns {void} */
function forgetAll() {
  observer.disconnect();
  known = new WeakMap();
  observed = new WeakSet();
  mutations = 0;
}

/** @type {(record: MutationRecord) => void} */
function forgetRecord({ type, target, addedNodes, removedNodes }) {
  if (type === "attributes") {
    const facts = known.get(target);
    if (facts) facts.hasNewNames = true;
    return;
  }
  const parent = type === "characterData" ? get.parentNode.call(target) : target;
  const facts = parent && known.get(parent);
  if (facts) facts.list = null;
  for (const node of removedNodes) forgetInside(node);
  for (const node of addedNodes) forgetInside(node);
}

/**
 * Drop the cache entries of all elements in a part that was added or removed. Changes in a part that was removed from
 * the document have not been reported.
 *
 * @type {(node: Node) => void}
 */
function forgetInside(node) {
  const walker = createTreeWalker.call(documentOf(node), node, NodeFilter.SHOW_ELEMENT);
  for (
    let at = /** @type {Node | null} */ (walker.currentNode);
    at && mutations <= MAX_MUTATIONS;
    at = walker.nextNode()
  ) {
    known.delete(at);
    mutations++;
  }
}
