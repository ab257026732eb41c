// Finds the innermost visible element that contains a text. A selector engine of Playwright; the body is the encoded
// text. Case, white space and invisible hyphens do not matter. Playwright's own engine reads members of elements that a
// form's fields shadow by their names, and it does not find a text directly below a shadow root.

import { getter } from "../driver/getter.js";
import { outside } from "./around.js";

const firstChildOf = getter(Node, "firstChild");
const nextOf = getter(Node, "nextSibling");
const shadowRootOf = getter(Element, "shadowRoot");
const [scrollLeftOf, scrollTopOf] = [getter(Element, "scrollLeft"), getter(Element, "scrollTop")];
// The text in a textarea is its default value. The value of a field that is not editable is text like any other.
const SKIPPED = "script, style, noscript, template, textarea, details:not([open]) > :not(summary)";
const BUTTONS = "input[type=button], input[type=reset], input[type=submit]";
const ONE_LINE = "[type=text], [type=search], [type=email], [type=url], [type=tel], [type=number]";
const OUTPUTS = `:is(input:not([type]), input:is(${ONE_LINE}), textarea):is([readonly], :disabled)`;

/** @typedef {{ node: Node, start: number, children: number, next: ChildNode | null, shadow: ShadowRoot | null }} Open */
/** @typedef {{ node: Node, start: number, end: number, children: number }} Part children: parts inside, right before it */

/** @type {(text: string) => string} */
const fold = (text) =>
  text
    .replace(/[\u00ad\u200b]/g, "")
    .replace(/\s+/g, " ")
    .toLowerCase();

/**
 * Return the folded text below a node, and the range of each element in it. Inner elements come first.
 *
 * @type {(root: Node) => { text: string, parts: Part[] }}
 */
function readText(root) {
  /** @type {string[]} */
  const pieces = [];
  /** @type {Part[]} */
  const parts = [];
  let length = 0;
  let endsInSpace = true;
  const add = (/** @type {string} */ text) => {
    const folded = fold(text);
    const piece = endsInSpace && folded.startsWith(" ") ? folded.slice(1) : folded;
    if (piece) endsInSpace = piece.endsWith(" ");
    pieces.push(piece);
    length += piece.length;
  };
  /** @type {(node: Node) => Open} */
  const open = (node) => ({
    node,
    start: length,
    children: parts.length,
    next: node instanceof HTMLTextAreaElement ? null : firstChildOf.call(node),
    shadow: node instanceof Element ? shadowRootOf.call(node) : null,
  });
  const stack = [open(root)];
  for (let at = stack.at(-1); at; at = stack.at(-1)) {
    const child = at.next || at.shadow;
    if (at.next) at.next = nextOf.call(at.next);
    else at.shadow = null;
    if (child instanceof Text) {
      if (!isFolded(at.node)) add(child.data);
    } else if (child instanceof HTMLBRElement) add(" ");
    else if (
      child instanceof ShadowRoot ||
      (child instanceof Element && !is(child, SKIPPED)) ||
      (child instanceof HTMLTextAreaElement && is(child, OUTPUTS))
    )
      stack.push(open(child));
    else if (!child) {
      const { node } = at;
      if (node instanceof HTMLInputElement && is(node, BUTTONS)) add(node.value);
      else if ((node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) && is(node, OUTPUTS))
        add(` ${node.value} `);
      parts.push({ node: at.node, start: at.start, end: length, children: parts.length - at.children });
      stack.pop();
    }
  }
  return { text: pieces.join(""), parts };
}

/** @type {(element: Element, selector: string) => boolean} */
const is = (element, selector) => Element.prototype.matches.call(element, selector);

/** @type {(node: Node) => boolean} */
const isFolded = (node) => node instanceof HTMLDetailsElement && !Element.prototype.hasAttribute.call(node, "open");

/**
 * Return the innermost elements that contain the words, including hidden ones.
 *
 * @type {(root: Node, words: string) => Generator<Element>}
 */
function* findInnermost(root, words) {
  const { text, parts } = readText(root);
  const places = [];
  for (let place = text.indexOf(words); place >= 0; place = text.indexOf(words, place + 1)) places.push(place);
  let lastFound = -1;
  for (const [index, { node, start, end, children }] of parts.entries()) {
    const place = places[findFirst(places, start)];
    if (place === undefined || place + words.length > end || lastFound >= index - children) continue;
    if (!(node instanceof Element)) continue;
    lastFound = index;
    yield node;
  }
}

/**
 * Return the index of the first number that is not below the limit.
 *
 * @type {(numbers: number[], limit: number) => number}
 */
function findFirst(numbers, limit) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Return why an element is not visible, or "" if it is.
 *
 * @type {(element: Element) => string}
 */
function hiddenBy(element) {
  const style = getComputedStyle(element);
  const range = style.display === "contents" ? new Range() : null;
  if (range) range.selectNodeContents(element);
  else if (!Element.prototype.checkVisibility.call(element)) return "hidden";
  const box = range ? range.getBoundingClientRect() : Element.prototype.getBoundingClientRect.call(element);
  if (style.visibility !== "visible") return "hidden";
  if (!range && !Element.prototype.checkVisibility.call(element, { opacityProperty: true })) {
    const isInView = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
    return isInView ? "transparent" : "transparent and out of view";
  }
  // Texts for screen readers only are in a box of one pixel, or outside of the page.
  if (box.width <= 1 || box.height <= 1) return "too small";
  const isOutside = box.bottom + scrollY <= 0 || (box.right + scrollX <= 0 && style.direction === "ltr");
  return isOutside && !isInScrolled(element) ? "outside of the page" : "";
}

/**
 * Return whether an element is inside a box that is scrolled, so that it can be scrolled into view again.
 *
 * @type {(element: Element) => boolean}
 */
function isInScrolled(element) {
  for (let at = element; at && at !== document.body; at = outside(at))
    if (at instanceof Element && (scrollLeftOf.call(at) || scrollTopOf.call(at))) return true;
  return false;
}

/**
 * Return the innermost visible element that contains the text. If the body begins with `?`, return an element whose
 * attribute `v` says why the first element that contains the text is not visible.
 *
 * @type {(root: Node, body: string) => Element[]}
 */
export function queryAll(root, body) {
  const asksWhy = body.startsWith("?");
  for (const element of findInnermost(root, fold(decodeURIComponent(asksWhy ? body.slice(1) : body)).trim())) {
    const reason = hiddenBy(element);
    if (asksWhy) {
      const reply = Document.prototype.createElement.call(document, "i");
      reply.setAttribute("v", reason);
      return [reply];
    }
    if (!reason) return [element];
  }
  return [];
}
