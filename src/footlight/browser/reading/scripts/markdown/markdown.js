// The main content of a page as Markdown. A selector engine of Playwright in an isolated world: the body is
// percent-encoded JSON {"links": boolean}; the root is a document, or an element, which is then read as a whole. The
// reply is the attribute `v`, JSON text, of a new detached element: {"title", "url", "markdown"}.

import { isHidden } from "./left_out.js";
import { mainOf } from "./main_content.js";
import { cut, DOCUMENT, documentOf, get, MAX_TITLE, textOf, tidy, typeOf } from "./nodes.js";
import { Writer } from "./writer.js";

/** @typedef {import("./writer.js").Options} Options */

/** @type {(root: Node, options: Options) => { title: string, url: string, markdown: string }} */
function read(root, options) {
  const isDocument = typeOf(root) === DOCUMENT;
  const document = documentOf(root);
  const element = isDocument ? mainOf(/** @type {Document} */ (root)) : /** @type {AnyElement} */ (root);
  const writer = new Writer(options, !isDocument);
  const blocks = element ? writer.all(element) : [];
  if (isDocument && element && !blocks.some((block) => /^#{1,2} /.test(block)))
    blocks.unshift(...firstHeading(document));
  return {
    title: tidy(cut(get.title.call(document), MAX_TITLE)),
    url: get.url.call(document),
    markdown: blocks.join("\n\n"),
  };
}

/**
 * Return the first heading of the page. A title may be outside of the text to which it belongs.
 *
 * @type {(document: Document) => string[]}
 */
function firstHeading(document) {
  const headings = [...Document.prototype.querySelectorAll.call(document, "h1")];
  const first = headings.find((heading) => !isHidden(heading) && tidy(textOf(heading)));
  return first ? [`# ${tidy(textOf(first))}`] : [];
}

/** @type {(root: Node, body: string) => Element[]} */
export function queryAll(root, body) {
  const element = Document.prototype.createElement.call(documentOf(root), "a");
  element.setAttribute("v", JSON.stringify(read(root, JSON.parse(decodeURIComponent(body)))));
  return [element];
}
