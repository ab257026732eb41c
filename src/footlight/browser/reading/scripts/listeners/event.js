// Copies of an event and of its target, for listeners that Chromium ends before their first side effect. It counts a
// spread, a loop over names, `matches` and `closest` as side effects.

/** @import { Found } from "./found.js" */

// biome-ignore format: a table
const COPIED = [
  "id", "className", "classList", "tagName", "nodeName", "localName", "nodeType", "dataset",
  "parentElement", "parentNode", "children", "childNodes", "textContent", "ownerDocument", "attributes",
  "href", "name", "type", "value", "checked", "disabled", "form", "hidden", "title", "isContentEditable",
  "nextElementSibling", "previousElementSibling", "firstElementChild", "isConnected", "style",
];
// biome-ignore format: a table
const CALLED = [
  "getAttribute", "hasAttribute", "contains", "querySelector", "querySelectorAll", "getBoundingClientRect",
];

/** @type {(node: any) => any} */
export function rootOf(node) {
  let at = node;
  while (at.parentNode) at = at.parentNode;
  return at;
}

/**
 * Return an object that behaves like the element, without side effects.
 *
 * @type {(element: any) => any}
 */
export function makeStandIn(element) {
  const root = rootOf(element);
  /** @type {PropertyDescriptorMap} */
  const more = {};
  /** @type {(at: Element, selector: string) => boolean} */
  const matches = (at, selector) => {
    const all = root.querySelectorAll(selector);
    for (let n = 0; n < all.length; n++) if (all[n] === at) return true;
    return false;
  };
  for (const each of COPIED) more[each] = { value: element[each] };
  /** @type {(selector: string) => boolean} */
  const ownMatches = (selector) => matches(element, selector);
  more.matches = { value: ownMatches };
  /** @type {(selector: string) => Element | null} */
  const closest = (selector) => {
    for (let at = element; at && at.nodeType === 1; at = at.parentNode) if (matches(at, selector)) return at;
    return null;
  };
  more.closest = { value: closest };
  for (const each of CALLED) {
    /** @type {(argument: unknown) => unknown} */
    const call = (argument) => element[each](argument);
    more[each] = { value: call };
  }
  return Object.create(Object.getPrototypeOf(element), more);
}

/** @type {(found: Found, node: any, target: any) => any} */
export function makeEvent([, , , page, view, point, pressed], node, target) {
  const [x, y] = point || [0, 0];
  const { key, code, keyCode, which, ctrlKey, shiftKey, altKey, metaKey } = pressed || {};
  /** @type {any} */
  const event = {
    type: pressed ? "keydown" : "click",
    target,
    srcElement: target,
    currentTarget: node,
    isTrusted: true,
    bubbles: true,
    cancelable: true,
    defaultPrevented: false,
    eventPhase: 2,
    timeStamp: 0,
    view,
    key,
    code,
    keyCode,
    which,
    ctrlKey,
    shiftKey,
    altKey,
    metaKey,
    button: 0,
    buttons: 0,
    detail: 1,
    clientX: x,
    clientY: y,
    pageX: x,
    pageY: y,
    offsetX: 0,
    offsetY: 0,
    preventDefault() {},
    stopPropagation() {},
    stopImmediatePropagation() {},
    persist() {},
    composedPath: () => [target, node, page, view],
    isDefaultPrevented: () => false,
    isPropagationStopped: () => false,
    getModifierState: () => false,
  };
  event.nativeEvent = event;
  event.originalEvent = event;
  return event;
}
