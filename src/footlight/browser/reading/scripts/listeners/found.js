// The listeners that an input event reaches. Chromium lists them with `getEventListeners`.

import { accessor } from "./accessor.js";

/** @typedef {{key?: string, code?: string, keyCode?: number, which?: number} & EventModifierInit} Key */
/** @typedef {EventListenerOrEventListenerObject} Listener */
/** @typedef {[node: any, listener: Listener]} HeardBy */
/** @typedef {[x: number, y: number] | null} Point */
/**
 * The listeners to call, of the nearest element and of its ancestors, and the data of the event.
 *
 * @typedef {[HeardBy[], HeardBy[], Element, Document, Window, Point, Key | null]} Found
 */

const MAX_TYPES = 20;
const PROPERTIES = [
  ["onClick", "click"],
  ["onDoubleClick", "dblclick"],
  ["onMouseDown", "mousedown"],
  ["onMouseUp", "mouseup"],
  ["onPointerDown", "pointerdown"],
  ["onPointerUp", "pointerup"],
];

/** @typedef {"unknown" | "disabled" | "double click" | "no change"} Known */

/** @type {(target: Element | null, input: [Point, Key | null, string[]]) => Found | Element | Known} */
export function findListeners(target, [point, key, clicks]) {
  if (!target) return "unknown";
  const parentOf = accessor(Node, "parentNode");
  const kindOf = accessor(Node, "nodeType");
  const page = document;
  const view = window;
  if (!key && Element.prototype.closest.call(target, ":disabled, [aria-disabled=true], [inert]")) return "disabled";
  /** @type {(type: string) => boolean} */
  const isAmong = (type) => clicks.filter((each) => each === type).length > 0;
  const types = key ? ["keydown", "keypress", "keyup", "beforeinput"] : clicks;
  // Some libraries store the listeners of an element in a property, and listen on an ancestor.
  const properties = key
    ? ["onKeyDown", "onKeyUp"]
    : PROPERTIES.filter(([, type]) => isAmong(type)).map(([name]) => name);
  /** @type {(node: any) => any} */
  const around = (node) =>
    parentOf.call(node) || (kindOf.call(node) === Node.DOCUMENT_FRAGMENT_NODE && node.host) || null;
  /** @type {HeardBy[]} */
  const own = [];
  /** @type {HeardBy[]} */
  const above = [];
  let isHeard = false;
  let isForDoubleClicks = false;
  for (let at = /** @type {any} */ (target); at; at = at === page ? view : at === view ? null : around(at)) {
    const isRoot = at === view || kindOf.call(at) === Node.DOCUMENT_FRAGMENT_NODE;
    const found = getEventListeners(at);
    const heard = types.flatMap((type) => found[type] || []).filter((each) => !isRoot || !isOurs(each));
    if (heard.length) isHeard = true;
    if (!key && found.dblclick && at.nodeType === Node.ELEMENT_NODE) isForDoubleClicks = true;
    // A listener for all events, or on the whole page, may forward events.
    const isWhole = at === view || at === page || at === page.body || at === page.documentElement;
    const passesOn = Object.keys(found).length > MAX_TYPES || (!key && isWhole);
    const kept = Object.keys(at)
      .filter((name) => name.startsWith("__reactProps$"))
      .flatMap((name) => properties.map((property) => at[name]?.[property]).filter(Boolean));
    const isNear = !passesOn && (key || own.every(([node]) => node === at));
    for (const { listener } of heard) (isNear ? own : above).push([at, listener]);
    for (const listener of kept) own.push([at, listener]);
  }
  if (!isHeard && !own.length) return isForDoubleClicks ? "double click" : target;
  return own.length || above.length ? [own, above, target, page, view, point, key] : "no change";
}

/**
 * Return whether Playwright has added a listener: it installs its scripts in the page's own world too, once it runs one
 * of them there. A listener that is passive and comes before all others changes nothing of a click. A page that replaces
 * `toString` may make its own listeners on the window look so; zone.js leaves the source of others as it is.
 *
 * @type {(heard: {listener: Listener, passive: boolean, useCapture: boolean}) => boolean}
 */
function isOurs({ listener, passive, useCapture }) {
  return (
    useCapture &&
    (passive ||
      (typeof listener === "function" && Function.prototype.toString.call(listener).includes("_hitTargetInterceptor")))
  );
}
