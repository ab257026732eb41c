// The requests `links` and `metadata`.

import { nameOf } from "./names.js";
import {
  absolute,
  attr,
  attribute,
  documentElement,
  hasAttribute,
  method,
  namespaceURI,
  nodeType,
  queryAll,
  read,
  shadowRoot,
  tagOf,
  textContent,
  XHTML,
} from "./platform.js";
import { cut, fold, visibleText } from "./text.js";
import { isRendered } from "./visibility.js";

/** @import { Scope } from "./platform.js" */

const XLINK = "http://www.w3.org/1999/xlink";
const MAX_URL = 8000;

/**
 * Return the link's URL as the author wrote it, or null if this is not a link.
 *
 * @type {(element: AnyElement, tag: string) => string | null}
 */
export function linkAddress(element, tag) {
  if (hasAttribute(element, "href")) return attribute(element, "href");
  if (tag !== "a" || namespaceURI(element) === XHTML) return null;
  return method(element, "getAttributeNS")(element, XLINK, "href");
}

/** @typedef {{ text: string, href: string, title?: string }} Link */

/** @type {(element: AnyElement, address: string) => Link} */
function linkOf(element, address) {
  const href = namespaceURI(element) === XHTML ? read(element, "href") : absolute(address);
  const text = visibleText(element, 500) || (isRendered(element) ? "" : fold(textContent(element), 500));
  /** @type {Link} */
  const link = {
    text: text || nameOf(element),
    href: cut(typeof href === "string" ? href : address, MAX_URL),
  };
  if (attr(element, "title")) link.title = cut(attr(element, "title"), 500);
  return link;
}

/** @type {(root: Scope, limit: number) => Link[]} */
export function linksOf(root, limit) {
  /** @type {Link[]} */
  const links = [];
  /** @type {(element: AnyElement) => void} */
  const take = (element) => {
    const tag = tagOf(element);
    if (tag === "a" || tag === "area") {
      const address = linkAddress(element, tag);
      if (address !== null) links[links.length] = linkOf(element, address);
    }
    const shadow = shadowRoot(element);
    if (shadow) visit(shadow);
  };
  /** @type {(scope: Scope) => void} */
  const visit = (scope) => {
    const all = queryAll(scope, "*");
    for (let i = 0; i < all.length && links.length < limit; i++) take(all[i]);
  };
  if (nodeType(root) === 1) take(/** @type {AnyElement} */ (root));
  visit(root);
  return links;
}

/** @type {(css: string) => string | null} */
function contentOf(css) {
  const found = queryAll(document, css);
  for (let i = 0; i < found.length; i++) {
    const content = fold(attr(found[i], "content") || attr(found[i], "href"), MAX_URL);
    if (content) return content;
  }
  return null;
}

/** @type {(url: string | null) => string | null} */
const orNull = (url) => (url === null ? null : cut(absolute(url), MAX_URL));

/** @returns {Record<string, string | null>} */
export function metadata() {
  const root = documentElement(document);
  return {
    title: fold(read(document, "title"), 1000) || null,
    description: contentOf('meta[name="description" i]'),
    keywords: contentOf('meta[name="keywords" i]'),
    ogImage: orNull(contentOf('meta[property="og:image" i],meta[name="og:image" i]')),
    canonicalUrl: orNull(contentOf('link[rel~="canonical" i]')),
    language: (root && fold(attr(root, "lang") || attr(root, "xml:lang"), 100)) || null,
    url: cut(read(document, "URL"), MAX_URL),
  };
}
