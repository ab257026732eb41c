// Answers the requests of `inspection.py`: `(element | elements, request)`, or `(request)` about the whole page.
// `request.what` is the kind of request. Answers are plain values. Tables, and all answers on pages with broken arrays,
// are JSON text.
//
// The script runs in the page's main world and does not rely on anything there. It takes members of the DOM from their
// prototypes, which it gets from `document`: a form field named "attributes" shadows `form.attributes`, and a page may
// define its own class `Node`. It uses no array methods and no iterators, because pages replace them. Answers do not
// inherit a `toJSON` of the page. The size of all answers is limited.
//
// This file contains the members of the DOM that the other files use.

import { asciiLower } from "./text.js";

export const apply = Reflect.apply;

/** @type {(object: object, name: string) => PropertyDescriptor | undefined} */
export function member(object, name) {
  for (let proto = Object.getPrototypeOf(object); proto; proto = Object.getPrototypeOf(proto)) {
    const found = Object.getOwnPropertyDescriptor(proto, name);
    if (found) return found;
  }
  return undefined;
}

/**
 * Return the value of a member of an object. For members of one class only (`href` of a link, `labels` of a field);
 * undefined if the element has no such member.
 *
 * @type {(object: object, name: string) => any}
 */
export function read(object, name) {
  const found = member(object, name);
  return found?.get ? apply(found.get, object, []) : undefined;
}

/** @type {(object: object, name: string) => (self: any) => any} */
function getter(object, name) {
  const get = member(object, name)?.get;
  return (self) => (get ? apply(get, self, []) : undefined);
}

/** @type {(object: object, name: string) => (self: any, ...args: any[]) => any} */
export function method(object, name) {
  const found = member(object, name);
  return (self, ...args) => (found ? apply(found.value, self, args) : undefined);
}

/** @typedef {Document | ShadowRoot | AnyElement} Scope a document, a shadow tree, or an element and its descendants */

export const XHTML = "http://www.w3.org/1999/xhtml";
/** @type {HTMLAnchorElement} */
const probe = method(document, "createElementNS")(document, XHTML, "a");
/** @type {Range} */
export const range = method(document, "createRange")(document);

/** @type {(self: Node) => number} */
export const nodeType = getter(probe, "nodeType");
/** @type {(self: Node) => string | null} */
export const nodeValue = getter(probe, "nodeValue");
/** @type {(self: Node) => string} */
export const textContent = getter(probe, "textContent");
// The type checker does not narrow a node to an element by its type, so all nodes are typed as elements.
/** @type {(self: Node) => AnyElement | null} */
export const firstChild = getter(probe, "firstChild");
/** @type {(self: Node) => AnyElement | null} */
export const nextSibling = getter(probe, "nextSibling");
/** @type {(self: Node) => AnyElement | null} */
export const parentNode = getter(probe, "parentNode");
/** @type {(self: Node) => boolean} */
export const isConnected = getter(probe, "isConnected");
/** @type {(self: Node) => Node} */
export const getRootNode = method(probe, "getRootNode");
/** @type {(self: Node, other: Node) => boolean} */
export const containsNode = method(probe, "contains");
/** @type {(self: AnyElement) => string} */
export const localName = getter(probe, "localName");
/** @type {(self: AnyElement) => string | null} */
export const namespaceURI = getter(probe, "namespaceURI");
/** @type {(self: AnyElement) => NamedNodeMap} */
export const attributesOf = getter(probe, "attributes");
const getAttribute = member(probe, "getAttribute")?.value;
/** @type {(element: AnyElement, name: string) => string | null} */
export const attribute = (element, name) => apply(getAttribute, element, [name]);
/** @type {(self: AnyElement, name: string) => boolean} */
export const hasAttribute = method(probe, "hasAttribute");
/** @type {(self: AnyElement) => boolean} */
export const hasAttributes = method(probe, "hasAttributes");
/** @type {(self: Node) => ShadowRoot | null | undefined} */
export const shadowRoot = getter(probe, "shadowRoot");
/** @type {(self: Node) => AnyElement | null} */
export const assignedSlot = getter(probe, "assignedSlot");
/** @type {(self: AnyElement, css: string) => boolean} */
export const matches = method(probe, "matches");
/** @type {(self: AnyElement, css: string) => AnyElement | null} */
export const closestOf = method(probe, "closest");
/** @type {(self: AnyElement) => DOMRect} */
export const boundingRect = method(probe, "getBoundingClientRect");
/** @type {(self: AnyElement) => DOMRectList} */
export const clientRects = method(probe, "getClientRects");
/** @type {(self: AnyElement, options: ScrollIntoViewOptions) => void} */
export const scrollIntoView = method(probe, "scrollIntoView");
/** @type {(self: Document) => AnyElement | null} */
export const documentElement = getter(document, "documentElement");
/** @type {(self: Range, node: Node) => void} */
export const rangeAround = method(range, "selectNodeContents");
/** @type {(self: Range) => DOMRectList} */
export const rangeRects = method(range, "getClientRects");
/** @type {(element: AnyElement) => CSSStyleDeclaration} */
export const styleOf = (element) => window.getComputedStyle(element);

/** @type {(node: Node) => boolean} */
export const isElement = (node) => nodeType(node) === 1;
/** @type {(element: AnyElement) => string} */
export const tagOf = (element) => asciiLower(localName(element));
/** @type {(element: AnyElement, name: string) => string} */
export const attr = (element, name) => attribute(element, name) || "";
/** @type {(root: Scope, css: string) => ArrayLike<AnyElement>} */
export const queryAll = (root, css) => {
  const found = member(root, "querySelectorAll");
  return found ? apply(found.value, root, [css]) : [];
};

/** @type {(node: AnyElement | null) => AnyElement | null} */
function nextElement(node) {
  let at = node;
  while (at && nodeType(at) !== 1) at = nextSibling(at);
  return at;
}
/** @type {(parent: Node) => AnyElement | null} */
export const firstElement = (parent) => nextElement(firstChild(parent));
/** @type {(element: AnyElement) => AnyElement | null} */
export const nextElementOf = (element) => nextElement(nextSibling(element));

/**
 * Return the parent element, or the host of the shadow tree.
 *
 * @type {(element: Node) => AnyElement | null}
 */
export function parentOf(element) {
  const parent = parentNode(element);
  if (!parent) return null;
  if (isElement(parent)) return parent;
  return nodeType(parent) === 11 ? read(parent, "host") || null : null;
}

/** @type {(url: string) => string} */
export function absolute(url) {
  method(probe, "setAttribute")(probe, "href", url);
  return read(probe, "href");
}
