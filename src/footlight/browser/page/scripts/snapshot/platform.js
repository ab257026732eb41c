// Takes snapshots of the accessibility tree of a page, in one pass over the flat tree, and stores the elements of refs.
// It is a selector engine of Playwright: `query(root, body)`.
//
//   e12        the live element of that ref; `e12,e15` for several
//   any other  percent-encoded JSON {"what": "look" | "ref" | "identify", …}; the reply is the attribute `v` of a new
//              detached element, as JSON
//
// Roles follow HTML-AAM and ARIA, names and descriptions accname 1.2, states ARIA. Where these leave a choice, the
// script does what Chrome does (docs/agreement.md). It runs in an isolated world that pages cannot change, so the
// methods of the DOM are the original ones. Named properties of forms and documents still shadow members there, so
// members are taken from their prototypes.
//
// This file contains the limits, the members of the DOM that the other files use, and functions for text.

import { getter } from "../../../driver/getter.js";
import { readLive } from "./reads.js";

// The limits.

export const MAX_NODES = 50_000;
export const MAX_SIZE = 4_000_000; // Characters of all records of a pass.
export const MAX_READ = 20_000; // Characters of a text that are processed.
export const MAX_DEPTH = 400; // Nested elements; the stack allows some thousand calls.
export const MAX_INDENT = 100; // Characters.
export const MAX_NAME = 400;
export const MAX_HINT = 40; // of a control without a name
export const MAX_ICONS = 3; // elements in a control that may be its icon
export const MAX_TEST_ID_TEXT = 100; // of an element with a test id
export const MAX_TEXT = 2_000;
export const MAX_OPTIONS = 50; // Options of a drop-down, in the tree.
export const MAX_PASSES = 100; // Passes whose refs may have to be dropped.
export const MAX_PARTS = 50; // Parts of one clickable element.
export const MAX_PART_DEPTH = 8;
export const MAX_SELECTORS = 40; // with more selectors, matching is slower than reading the styles
export const MAX_EMPTY = 8; // Consecutive empty elements that are checked for whether they separate words.
export const MAX_MUTATIONS = 20_000; // Changes between two passes. After more, everything is read again.
export const MAX_REFERRED = 300_000; // Elements read for the names of others, in one pass.

/** @typedef {Document | ShadowRoot | AnyElement} Scope a document, a shadow tree, or an element and its descendants */

export const get = {
  activeElement: getter(Document, "activeElement"),
  adoptedStyleSheets: getter(Document, "adoptedStyleSheets"),
  assignedSlot: getter(Element, "assignedSlot"),
  children: getter(Element, "children"),
  data: getter(CharacterData, "data"),
  documentElement: getter(Document, "documentElement"),
  firstChild: getter(Node, "firstChild"),
  firstElementChild: getter(Element, "firstElementChild"),
  isConnected: getter(Node, "isConnected"),
  localName: getter(Element, "localName"),
  namespace: getter(Element, "namespaceURI"),
  nextSibling: getter(Node, "nextSibling"),
  nodeType: getter(Node, "nodeType"),
  ownerDocument: getter(Node, "ownerDocument"),
  parentNode: getter(Node, "parentNode"),
  previousElementSibling: getter(Element, "previousElementSibling"),
  shadowRoot: getter(Element, "shadowRoot"),
  styleSheets: getter(Document, "styleSheets"),
  textContent: getter(Node, "textContent"),
  title: getter(Document, "title"),
  url: getter(Document, "URL"),
};
export const { checkVisibility, closest, getAttribute, getAttributeNames, getBoundingClientRect } = Element.prototype;
export const { hasAttribute, hasAttributes, matches } = Element.prototype;

export const ELEMENT = 1;
export const TEXT = 3;
export const CDATA = 4;
export const DOCUMENT = 9;

/** @type {(element: AnyElement, name: string) => string | null} */
export const attribute = (element, name) => getAttribute.call(element, name);
/** @type {(element: AnyElement, name: string) => boolean} */
export const has = (element, name) => hasAttribute.call(element, name);
/** @type {(text: string | null | undefined) => string} */
export const lower = (text) => (text ? text.trim().toLowerCase() : "");

/** @type {(root: Node) => boolean} */
export const isDocument = (root) => get.nodeType.call(root) === DOCUMENT;
/**
 * Return the document of a node. Only a document itself has no owner.
 *
 * @type {(root: Node) => Document}
 */
export const documentOf = (root) => /** @type {Document} */ (isDocument(root) ? root : get.ownerDocument.call(root));

/** @type {(text: string) => Set<string>} */
export const words = (text) => new Set(/\s/.test(text) ? text.split(/\s+/).filter(Boolean) : [text]);

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
/** @type {Map<string | null, Set<string>>} the tags of other languages that have a meaning here */
const FOREIGN_TAGS = new Map([
  [
    SVG,
    words(`
      a circle clipPath defs desc ellipse filter g image line linearGradient marker mask metadata path pattern polygon
      polyline radialGradient rect script style svg symbol text title use
    `),
  ],
  ["http://www.w3.org/1998/Math/MathML", words("math")],
]);

/**
 * Return the local name of an element of HTML, and of those of SVG and MathML that have a meaning here. It is "" for
 * all others: an element of another XML language may be called `select`, but it has no options.
 *
 * @type {(element: AnyElement) => string}
 */
export function tagOf(element) {
  const name = get.localName.call(element);
  const namespace = get.namespace.call(element);
  return namespace === HTML || FOREIGN_TAGS.get(namespace)?.has(name) ? name : "";
}

/** @type {(element: AnyElement) => boolean} */
export const isSvg = (element) => get.namespace.call(element) === SVG;

/** @type {(element: AnyElement, css: string) => boolean} */
export function isMatch(element, css) {
  try {
    return matches.call(element, css);
  } catch {
    return false; // This engine does not support the selector.
  }
}

/** @type {(root: Scope, css: string) => NodeListOf<AnyElement>} */
export function findAll(root, css) {
  const type = get.nodeType.call(root);
  if (type === DOCUMENT) return Document.prototype.querySelectorAll.call(root, css);
  return (type === ELEMENT ? Element.prototype : DocumentFragment.prototype).querySelectorAll.call(root, css);
}

/** @type {(element: AnyElement) => AnyElement | null} */
const slotOf = (element) => get.assignedSlot.call(element);

/**
 * Return the parent element in the flat tree, or null.
 *
 * @type {(element: AnyElement) => AnyElement | null}
 */
export function parentOf(element) {
  const slot = readLive(slotOf, element);
  if (slot) return slot;
  const parent = get.parentNode.call(element);
  if (!parent) return null;
  const type = get.nodeType.call(parent);
  return type === ELEMENT
    ? /** @type {AnyElement} */ (parent)
    : (type === 11 && /** @type {ShadowRoot} */ (parent).host) || null;
}

/** @type {(element: AnyElement, outer: AnyElement) => boolean} */
export function isInside(element, outer) {
  for (let at = /** @type {AnyElement | null} */ (element); at; at = parentOf(at)) if (at === outer) return true;
  return false;
}

/**
 * Return whether two sets have the same members; null equals only null.
 *
 * @type {(one: Set<unknown> | null, other: Set<unknown> | null) => boolean}
 */
export function areEqual(one, other) {
  if (!one || !other || one.size !== other.size) return one === other;
  for (const each of one) if (!other.has(each)) return false;
  return true;
}

const UNSEEN_CHARACTERS = /[\u00ad\u200b\u2060\ufeff\ue000-\uf8ff]|\udb80[\udc00-\udfff]/g;
const UNEVEN = /[^\S ]| {2}/;
const BEYOND_ASCII = /[^\0-\x7f]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Return the text as it is drawn. Consecutive white space becomes one space. Glyphs of icon fonts, soft hyphens and
 * similar characters are left out.
 *
 * @type {(text: string) => string}
 */
export function fold(text) {
  let folded = text;
  if (BEYOND_ASCII.test(folded)) folded = folded.replace(UNSEEN_CHARACTERS, "").replace(LONE_SURROGATE, "\ufffd");
  return UNEVEN.test(folded) ? folded.replace(/\s+/g, " ") : folded;
}

/**
 * Return the text with its lines and indentation, as `white-space: pre` draws it. Trailing white space of lines is left
 * out, and so are empty lines around the text and very long indentation.
 *
 * @type {(text: string) => string}
 */
export function keepLines(text) {
  const lines = text
    .replace(/\r\n?/g, "\n")
    .replace(/\u00a0/g, " ")
    .split("\n")
    .map(cleanLine);
  const first = lines.findIndex(Boolean);
  const last = lines.findLastIndex(Boolean);
  return lines.slice(first, last + 1).join("\n");
}

/** @type {(line: string) => string} */
function cleanLine(line) {
  const clean = BEYOND_ASCII.test(line) ? line.replace(UNSEEN_CHARACTERS, "").replace(LONE_SURROGATE, "\ufffd") : line;
  const end = clean.trimEnd();
  const indentation = end.length - end.trimStart().length;
  return indentation > MAX_INDENT ? end.slice(indentation - MAX_INDENT) : end;
}

/**
 * Cut to `limit` characters; a cut is marked and does not split a surrogate pair.
 *
 * @type {(text: string, limit: number) => string}
 */
export function cut(text, limit) {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 2);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 2 : limit - 1) + "…";
}

/**
 * Shorten a long text before it is processed as a whole.
 *
 * @type {(text: string) => string}
 */
export const shorten = (text) => (text.length > MAX_READ ? text.slice(0, MAX_READ) + "…" : text);

/** @type {(text: string, limit: number) => string} */
export const tidy = (text, limit) => cut(fold(shorten(text)).trim(), limit);

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters
const TO_ESCAPE = /["\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
/** @type {(text: string) => string} */
export const quote = (text) => (TO_ESCAPE.test(text) ? JSON.stringify(text) : '"' + text + '"');

/** @type {never[]} */
export const NOTHING = [];
