// A selector that matches only one element.

import {
  attr,
  firstElement,
  isConnected,
  localName,
  namespaceURI,
  nextElementOf,
  parentNode,
  parentOf,
  queryAll,
  shadowRoot,
} from "./platform.js";
import { typeOf } from "./text.js";

/** @type {(Document | ShadowRoot)[] | null} */
let scopes = null;

/**
 * Return the document and its open shadow roots, in the order in which Playwright's CSS engine searches them.
 *
 * @returns {(Document | ShadowRoot)[]}
 */
export function roots() {
  if (scopes) return scopes;
  /** @type {(Document | ShadowRoot)[]} */
  const all = [];
  /** @type {(root: Document | ShadowRoot) => void} */
  const add = (root) => {
    all[all.length] = root;
    const inside = queryAll(root, "*");
    for (let i = 0; i < inside.length; i++) {
      const shadow = shadowRoot(inside[i]);
      if (shadow && all.length < 10000) add(shadow);
    }
  };
  add(document);
  scopes = all;
  return all;
}

/** @type {(css: string, element: AnyElement) => boolean} */
function isOnly(css, element) {
  const all = roots();
  let count = 0;
  for (let i = 0; i < all.length; i++) {
    const found = queryAll(all[i], css);
    if (found.length > 1 || (found.length && (found[0] !== element || ++count > 1))) return false;
  }
  return count === 1;
}

/**
 * Return whether a text can be used in a selector: short, printable, without the `>>` that separates frames.
 *
 * @type {(value: string) => boolean}
 */
function isPlain(value) {
  if (!value || value.length > 100 || value.indexOf(">>") >= 0) return false;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code < 32 || code === 127 || (code >= 0xd800 && code <= 0xdfff)) return false;
  }
  return true;
}

/** @type {(value: string) => string} */
function quote(value) {
  let text = "";
  for (let i = 0; i < value.length; i++) {
    text += value[i] === '"' || value[i] === "\\" ? "\\" + value[i] : value[i];
  }
  return '"' + text + '"';
}

const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy"];
const IDENTIFIER = /^-?[A-Za-z_][\w-]*$/;
const MADE_UP =
  /[:«»]|\d{4}|(^|[-_])(?=[a-f]*\d)[0-9a-f]{8,}($|[-_])|^(ember|ext-gen|radix-|headlessui-|mui-|__BVID__|yui_)/i;

/** @type {(element: AnyElement, tag: string) => string} */
function namedSelector(element, tag) {
  for (let i = 0; i < TEST_IDS.length; i++) {
    const value = attr(element, TEST_IDS[i]);
    const css = isPlain(value) ? "[" + TEST_IDS[i] + "=" + quote(value) + "]" : "";
    if (css && isOnly(css, element)) return css;
  }
  const id = attr(element, "id");
  if (isPlain(id) && !MADE_UP.test(id)) {
    const css = IDENTIFIER.test(id) ? "#" + id : "[id=" + quote(id) + "]";
    if (isOnly(css, element)) return css;
  }
  const name = attr(element, "name");
  if (!isPlain(name) || !IDENTIFIER.test(tag)) return "";
  const css = tag + "[name=" + quote(name) + "]";
  if (isOnly(css, element)) return css;
  const value = attr(element, "value");
  const choice = css + "[value=" + quote(value) + "]";
  const type = tag === "input" ? typeOf(element) : "";
  return (type === "radio" || type === "checkbox") && isPlain(value) && isOnly(choice, element) ? choice : "";
}

/** @type {Map<AnyElement, string>} */
const anchors = new Map();

/** @type {(element: AnyElement) => string} */
function anchorOf(element) {
  let anchor = anchors.get(element);
  if (anchor === undefined) {
    anchor = namedSelector(element, localName(element));
    anchors.set(element, anchor);
  }
  return anchor;
}

/** @typedef {{ type: number, child: number }} Place */

/** @type {Map<AnyElement, Place>} */
const places = new Map();

/**
 * Return the number of an element among its siblings of one type, and among all; both are counted once for all
 * siblings.
 *
 * @type {(element: AnyElement) => Place}
 */
function placeOf(element) {
  const known = places.get(element);
  if (known) return known;
  /** @type {Map<string, number>} */
  const counts = new Map();
  const parent = parentNode(element);
  let place = { type: 1, child: 1 };
  let child = 0;
  for (let at = parent ? firstElement(parent) : null; at; at = nextElementOf(at)) {
    const name = namespaceURI(at) + " " + localName(at);
    const type = (counts.get(name) || 0) + 1;
    counts.set(name, type);
    const its = { type, child: ++child };
    places.set(at, its);
    if (at === element) place = its;
  }
  return place;
}

/** @type {(element: AnyElement) => string} */
function stepTo(element) {
  const tag = localName(element);
  if (!IDENTIFIER.test(tag)) return "*:nth-child(" + placeOf(element).child + ")";
  if ((tag === "html" || tag === "body") && isOnly(tag, element)) return tag;
  return tag + ":nth-of-type(" + placeOf(element).type + ")";
}

/** @type {Map<string, AnyElement[]>} */
const foundBy = new Map();

/** @type {(css: string) => AnyElement[]} */
export function matchesIn(css) {
  let found = foundBy.get(css);
  if (found) return found;
  found = [];
  const all = roots();
  for (let i = 0; i < all.length; i++) {
    const here = queryAll(all[i], css);
    for (let k = 0; k < here.length; k++) found[found.length] = here[k];
  }
  foundBy.set(css, found);
  return found;
}

/**
 * The elements that a path matches and, for each of them, the element at which the path begins.
 *
 * @typedef {object} Group
 * @property {AnyElement[]} elements
 * @property {AnyElement[]} starts
 * @property {Map<AnyElement | string, Group>} [parts] see `partsOf`
 */

/** @type {(parts: Map<AnyElement | string, Group>, key: AnyElement | string, element: AnyElement, start: AnyElement) => void} */
function addTo(parts, key, element, start) {
  let part = parts.get(key);
  if (!part) parts.set(key, (part = { elements: [], starts: [] }));
  part.elements[part.elements.length] = element;
  part.starts[part.starts.length] = start;
}

/** @type {(element: AnyElement) => string} */
const placeKey = (element) => localName(element) + " " + placeOf(element).type;

/** @type {Map<string, Map<AnyElement | string, Group>>} */
const namesakes = new Map();

/**
 * Return the elements with the same name and place as this one. All elements of a name are divided only once, because
 * each search for a place would take as long.
 *
 * @type {(element: AnyElement) => Group}
 */
function groupOf(element) {
  const tag = localName(element);
  let groups = namesakes.get(tag);
  if (!groups) {
    namesakes.set(tag, (groups = new Map()));
    const all = matchesIn(tag);
    for (let i = 0; i < all.length; i++) addTo(groups, placeKey(all[i]), all[i], all[i]);
  }
  return groups.get(placeKey(element)) || { elements: [], starts: [] };
}

/**
 * Return the parts of a group, by the parent of the element at which the path begins, and by the place of that parent.
 *
 * @type {(group: Group) => Map<AnyElement | string, Group>}
 */
function partsOf(group) {
  if (group.parts) return group.parts;
  const parts = (group.parts = new Map());
  for (let i = 0; i < group.elements.length; i++) {
    const start = parentOf(group.starts[i]);
    if (!start) continue;
    addTo(parts, start, group.elements[i], start);
    addTo(parts, placeKey(start), group.elements[i], start);
  }
  return parts;
}

/**
 * Return the shortest path from an anchor (or from anywhere) that matches this element only.
 *
 * @type {(element: AnyElement) => string}
 */
function pathTo(element) {
  let path = stepTo(element);
  let anchor = "";
  /** @type {Group} */
  let rivals;
  if (path.indexOf(":nth-of-type(") > 0) rivals = groupOf(element);
  else {
    const found = matchesIn(path);
    rivals = { elements: found, starts: found };
  }
  for (let at = parentOf(element); at && rivals.elements.length > 1 && !anchor; at = parentOf(at)) {
    anchor = anchorOf(at);
    path = (anchor || stepTo(at)) + " > " + path;
    rivals = partsOf(rivals).get(anchor ? at : placeKey(at)) || { elements: [], starts: [] };
  }
  // A child of a host and one in its shadow tree can have the same path: only a number distinguishes them.
  const { elements } = rivals;
  for (let i = 0; elements.length > 1 && i < elements.length; i++) {
    if (elements[i] === element) return ":nth-match(" + path + ", " + (i + 1) + ")";
  }
  return path;
}

/** @type {(element: AnyElement) => string} */
export function selectorOf(element) {
  return isConnected(element) ? anchorOf(element) || pathTo(element) : localName(element);
}
