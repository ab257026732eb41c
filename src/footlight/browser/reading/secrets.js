// A Playwright selector engine that finds the elements that show one of several texts. It runs in an isolated world.
// `body` is a percent-encoded JSON list of the texts. Ignored are case, white space, invisible characters and, in texts
// of 8 characters and more, the spaces and dashes that group the characters.
//
// Names in a page shadow members of its forms and of its document, such as `<img name=documentElement>`, so members are
// taken from their prototypes.

import { getter } from "../driver/getter.js";

/** @typedef {Document | ShadowRoot | Element} Tree */

const get = {
  childNodes: getter(Node, "childNodes"),
  children: getter(Element, "children"),
  documentElement: getter(Document, "documentElement"),
  nodeType: getter(Node, "nodeType"),
  shadowRoot: getter(Element, "shadowRoot"),
  textContent: getter(Node, "textContent"),
};
const { closest, getAttribute } = Element.prototype;
const ELEMENT = 1;
const TEXT = 3;
const DOCUMENT = 9;

/** @type {(root: Tree, body: string) => Element[]} */
export function queryAll(root, body) {
  /** @type {string[]} */
  const texts = JSON.parse(decodeURIComponent(body)).map(plain);
  const searched = texts.filter((text) => text.trim());
  const grouped = texts.map(ungrouped).filter((text) => text.length >= MIN_GROUPED_LENGTH);
  /** @type {(text: string | null) => boolean} */
  const shows = (text) => {
    const seen = plain(text || "");
    if (searched.some((each) => seen.includes(each))) return true;
    const letters = grouped.length ? ungrouped(seen) : "";
    return grouped.some((each) => letters.includes(each));
  };
  /** @type {Set<Element>} */
  const found = new Set();
  for (const tree of treesIn(root)) {
    for (const top of topsOf(tree)) addShowing(top, shows, found);
    for (const field of findAll(tree, "input, textarea, [placeholder], [alt]")) {
      const attributes = ["placeholder", "alt"].map((name) => getAttribute.call(field, name));
      if ([field.value, ...attributes].some((text) => typeof text === "string" && shows(text))) found.add(field);
    }
  }
  return [...found];
}

/** @type {(tree: Tree, css: string) => NodeListOf<AnyElement>} */
function findAll(tree, css) {
  const type = get.nodeType.call(tree);
  if (type === DOCUMENT) return Document.prototype.querySelectorAll.call(tree, css);
  return (type === ELEMENT ? Element.prototype : DocumentFragment.prototype).querySelectorAll.call(tree, css);
}

/**
 * Return the root element of a document, or the top-level elements of another tree.
 *
 * @type {(tree: Tree) => Iterable<Element>}
 */
function topsOf(tree) {
  const type = get.nodeType.call(tree);
  if (type === ELEMENT) return get.children.call(/** @type {Element} */ (tree));
  if (type !== DOCUMENT) return /** @type {ShadowRoot} */ (tree).children;
  const root = get.documentElement.call(/** @type {Document} */ (tree));
  return root ? [root] : [];
}

// Invisible characters: soft hyphens, zero-width spaces and joiners, direction marks.
// biome-ignore lint/suspicious/noMisleadingCharacterClass: U+034F is meant on its own
const INVISIBLE = /[\u00AD\u034F\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]+/g;
const MIN_GROUPED_LENGTH = 8; // The groups of a shorter text could be parts of other texts.

/** @type {(text: string) => string} */
function plain(text) {
  return text.replace(INVISIBLE, "").replace(/\s+/g, " ").toLowerCase();
}

/**
 * Return the text without the spaces and dashes that may group its characters, and without Markdown marks.
 *
 * @type {(text: string) => string}
 */
function ungrouped(text) {
  return text.replace(/[\s*_~`+-]+/g, "");
}

/** @type {(tree: Tree) => Generator<Tree>} */
function* treesIn(tree) {
  yield tree;
  for (const element of findAll(tree, "*")) {
    const shadow = get.shadowRoot.call(element);
    if (shadow) yield* treesIn(shadow);
  }
}

/**
 * Find the smallest elements that show a text. A text may extend over several elements.
 *
 * @type {(top: Element, shows: (text: string | null) => boolean, found: Set<Element>) => void}
 */
function addShowing(top, shows, found) {
  const rest = [top];
  for (let element = rest.pop(); element; element = rest.pop()) {
    if (!shows(get.textContent.call(element))) continue;
    const inside = [...get.children.call(element)].filter((child) => shows(get.textContent.call(child)));
    for (const child of inside) rest.push(child);
    const texts = [...get.childNodes.call(element)].filter((node) => get.nodeType.call(node) === TEXT);
    const own = texts.some((text) => shows(get.textContent.call(text)));
    if (own || !inside.length) found.add(closest.call(element, "select") ?? element);
  }
}
