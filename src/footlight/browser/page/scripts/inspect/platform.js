// Answers the questions of `inspection.py`: `(element | elements, request)`, or `(request)` about the whole page.
// `request.what` names the question. Answers are plain values. Tables, and all answers on pages that have broken their
// arrays, are JSON text.
//
// The script runs in the page's own world and trusts nothing there. It takes members of the DOM from their prototypes,
// which it reaches from `document`: a form field named "attributes" shadows `form.attributes`, and a page may define
// its own class `Node`. It uses no array methods and no iterators, because pages replace them. Answers inherit no
// `toJSON` of the page. All answers are bounded.
//
// This file holds the members of the DOM that the other files use.

import { asciiLower } from "./text.js";

export const apply = Reflect.apply;

export function member(object, name) {
  for (let proto = Object.getPrototypeOf(object); proto; proto = Object.getPrototypeOf(proto)) {
    const found = Object.getOwnPropertyDescriptor(proto, name);
    if (found) return found;
  }
  return undefined;
}

// For members of one class only (`href` of a link, `labels` of a field); undefined if the element has no such member.
export function read(object, name) {
  const found = member(object, name);
  return found?.get ? apply(found.get, object, []) : undefined;
}

function getter(object, name) {
  const found = member(object, name);
  return (self) => (found ? apply(found.get, self, []) : undefined);
}

export function method(object, name) {
  const found = member(object, name);
  return (self, ...args) => (found ? apply(found.value, self, args) : undefined);
}

export const XHTML = "http://www.w3.org/1999/xhtml";
const probe = method(document, "createElementNS")(document, XHTML, "a");
export const range = method(document, "createRange")(document);

export const nodeType = getter(probe, "nodeType");
export const nodeValue = getter(probe, "nodeValue");
export const textContent = getter(probe, "textContent");
export const firstChild = getter(probe, "firstChild");
export const nextSibling = getter(probe, "nextSibling");
export const parentNode = getter(probe, "parentNode");
export const isConnected = getter(probe, "isConnected");
export const getRootNode = method(probe, "getRootNode");
export const containsNode = method(probe, "contains");
export const localName = getter(probe, "localName");
export const namespaceURI = getter(probe, "namespaceURI");
export const attributesOf = getter(probe, "attributes");
const { value: getAttribute } = member(probe, "getAttribute");
export const attribute = (element, name) => apply(getAttribute, element, [name]);
export const hasAttribute = method(probe, "hasAttribute");
export const hasAttributes = method(probe, "hasAttributes");
export const shadowRoot = getter(probe, "shadowRoot");
export const assignedSlot = getter(probe, "assignedSlot");
export const matches = method(probe, "matches");
export const closestOf = method(probe, "closest");
export const boundingRect = method(probe, "getBoundingClientRect");
export const clientRects = method(probe, "getClientRects");
export const scrollIntoView = method(probe, "scrollIntoView");
export const documentElement = getter(document, "documentElement");
export const rangeAround = method(range, "selectNodeContents");
export const rangeRects = method(range, "getClientRects");
export const styleOf = (element) => window.getComputedStyle(element);

export const isElement = (node) => nodeType(node) === 1;
export const tagOf = (element) => asciiLower(localName(element));
export const attr = (element, name) => attribute(element, name) || "";
export const queryAll = (root, css) => {
  const found = member(root, "querySelectorAll");
  return found ? apply(found.value, root, [css]) : [];
};

function nextElement(node) {
  let at = node;
  while (at && nodeType(at) !== 1) at = nextSibling(at);
  return at;
}
export const firstElement = (parent) => nextElement(firstChild(parent));
export const nextElementOf = (element) => nextElement(nextSibling(element));

// The parent element, or the host of the shadow tree.
export function parentOf(element) {
  const parent = parentNode(element);
  if (!parent) return null;
  if (isElement(parent)) return parent;
  return nodeType(parent) === 11 ? read(parent, "host") || null : null;
}

export function absolute(url) {
  method(probe, "setAttribute")(probe, "href", url);
  return read(probe, "href");
}
