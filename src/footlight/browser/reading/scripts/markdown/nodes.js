// Access to nodes that a page cannot affect: no member is read that a form or a script may have replaced.

import { getter } from "../../../driver/getter.js";

export const MAX_DEPTH = 300; // Nested elements. Deeper content is plain text.
export const MAX_TITLE = 2_000; // Characters.
export const get = {
  baseURI: getter(Node, "baseURI"),
  body: getter(Document, "body"),
  childNodes: getter(Node, "childNodes"),
  data: getter(CharacterData, "data"),
  localName: getter(Element, "localName"),
  nodeType: getter(Node, "nodeType"),
  parentNode: getter(Node, "parentNode"),
  ownerDocument: getter(Node, "ownerDocument"),
  shadowRoot: getter(Element, "shadowRoot"),
  textContent: getter(Node, "textContent"),
  title: getter(Document, "title"),
  url: getter(Document, "URL"),
};
export const { checkVisibility, closest, getAttribute, querySelector } = Element.prototype;
export const ELEMENT = 1;
export const TEXT = 3;
export const DOCUMENT = 9;

/** @type {(text: string) => Set<string>} */
export const words = (text) => new Set(text.trim().split(/\s+/));
/** @type {(element: AnyElement, name: string) => string | null} */
export const attribute = (element, name) => getAttribute.call(element, name);
/** @type {(text: string | null) => string} */
export const lower = (text) => (text || "").trim().toLowerCase();
/** @type {(element: AnyElement) => string} */
export const tagOf = (element) => get.localName.call(element);
/** @type {(node: Node) => number} */
export const typeOf = (node) => get.nodeType.call(node);
/**
 * @param {Node} node
 * @returns {node is AnyElement}
 */
export const isElement = (node) => typeOf(node) === ELEMENT;
/** @type {(element: AnyElement) => string} */
export const textOf = (element) => get.textContent.call(element) || "";
/**
 * Return the document of a node. Only a document itself has no owner.
 *
 * @type {(root: Node) => Document}
 */
export const documentOf = (root) =>
  /** @type {Document} */ (typeOf(root) === DOCUMENT ? root : get.ownerDocument.call(root));
/** @type {(text: string) => string} */
export const tidy = (text) => text.replace(/\s+/g, " ").trim();
/** @type {(text: string, limit: number) => string} */
export const cut = (text, limit) => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);

/**
 * Return the children in the flat tree, which is the visible order and not the source order.
 *
 * @type {(element: AnyElement) => Node[]}
 */
export function childrenOf(element) {
  const shadow = get.shadowRoot.call(element);
  if (shadow) return [...get.childNodes.call(shadow)];
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length) return assigned;
  }
  return [...get.childNodes.call(element)];
}
